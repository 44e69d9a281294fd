import dataclasses
import json
import os
import stat
import subprocess

import pytest

from askcode.errors import IndexDamaged, IndexMismatch, IndexMissing, UsageError
from askcode.local_place import LocalPlace, prepare_directory
from askcode.manifest import (
    MANIFEST_NAME,
    SCHEMA_VERSION,
    Manifest,
    check_chunking,
    check_embedder,
    load_manifest,
    save_manifest,
)
from askcode.records import EmbedderIdentity

MADE = Manifest(
    table="chunks-1",
    embedder=EmbedderIdentity("model-a", "0123456789abcdef", 384),
    chunking_version=3,
    chunk_tokens=256,
    prompts_digest="p1",
    askcode_version="0.1.0",
    created="2026-01-02T03:04:05+00:00",
)


def changed(directory, **values):
    path = directory / MANIFEST_NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_manifest_is_read_as_it_was_saved(tmp_path):
    save_manifest(LocalPlace(tmp_path), MADE)

    assert load_manifest(LocalPlace(tmp_path)) == MADE
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST_NAME]


def test_saving_again_takes_the_place_of_the_old_one(tmp_path):
    save_manifest(LocalPlace(tmp_path), MADE)
    newer = dataclasses.replace(MADE, table="chunks-2")

    save_manifest(LocalPlace(tmp_path), newer)

    assert load_manifest(LocalPlace(tmp_path)) == newer


def test_the_directory_is_hidden_from_git(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)

    prepare_directory(tmp_path / ".askcode")
    save_manifest(LocalPlace(tmp_path / ".askcode"), MADE)

    listed = subprocess.run(
        ["git", "-C", tmp_path, "status", "--porcelain", "-uall"], capture_output=True, check=True
    )
    assert listed.stdout == b""


def test_preparing_twice_keeps_the_users_ignore_file(tmp_path):
    prepare_directory(tmp_path)
    (tmp_path / ".gitignore").write_text("mine\n")

    prepare_directory(tmp_path)

    assert (tmp_path / ".gitignore").read_text() == "mine\n"


def test_no_directory_is_no_index(tmp_path):
    with pytest.raises(IndexMissing, match="there is no index in") as caught:
        load_manifest(LocalPlace(tmp_path / "none"))

    assert caught.value.hint == "make one with: askcode index"


def test_tables_without_a_manifest_are_damage(tmp_path):
    (tmp_path / "chunks-1.lance").mkdir()

    with pytest.raises(IndexDamaged, match="damaged or incomplete"):
        load_manifest(LocalPlace(tmp_path))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema_version": 1}', "\x00\x01", "[" * 100_000]
)
def test_an_unreadable_manifest_is_damage(tmp_path, text):
    (tmp_path / MANIFEST_NAME).write_text(text)

    with pytest.raises(IndexDamaged, match="damaged or incomplete"):
        load_manifest(LocalPlace(tmp_path))


@pytest.mark.parametrize(
    "values",
    [
        {"table": 1},
        {"embedder": None},
        {"embedder": {"name": "a"}},
        {"embedder": {"name": "a", "digest": "b", "dim": "384"}},
        {"chunking_version": "3"},
        {"schema_version": "1"},
        {"schema_version": None},
        {"unknown": 1},
    ],
)
def test_a_manifest_with_other_values_is_damage(tmp_path, values):
    save_manifest(LocalPlace(tmp_path), MADE)
    changed(tmp_path, **values)

    with pytest.raises(IndexDamaged):
        load_manifest(LocalPlace(tmp_path))


@pytest.mark.parametrize(("version", "age"), [(99, "newer"), (0, "older")])
def test_another_schema_is_refused_by_name(tmp_path, version, age):
    save_manifest(LocalPlace(tmp_path), MADE)
    changed(tmp_path, schema_version=version, askcode_version="7.1", something_new=True)

    with pytest.raises(IndexMismatch) as caught:
        load_manifest(LocalPlace(tmp_path))

    assert caught.value.message == (
        f"index was built by askcode 7.1 in a {age} form "
        f"(schema {version}, this askcode reads {SCHEMA_VERSION})"
    )
    assert "askcode index --rebuild" in caught.value.hint


def test_the_same_model_passes():
    check_embedder(MADE, EmbedderIdentity("model-a", "0123456789abcdef", 384))


def test_another_model_is_named_with_its_dimension():
    with pytest.raises(IndexMismatch) as caught:
        check_embedder(MADE, EmbedderIdentity("model-b", "ff", 256))

    assert caught.value.message == "index was built with model-a (384), configured is model-b (256)"
    assert caught.value.hint == "run: askcode index --rebuild"


def test_the_same_name_with_other_files_is_refused():
    with pytest.raises(IndexMismatch, match="other files of the model model-a"):
        check_embedder(MADE, EmbedderIdentity("model-a", "fedcba9876543210", 384))


def test_another_chunking_is_refused():
    check_chunking(MADE, version=3, chunk_tokens=256)

    with pytest.raises(IndexMismatch, match=r"built by askcode 0\.1\.0 with chunking version 3"):
        check_chunking(MADE, version=4, chunk_tokens=256)
    with pytest.raises(IndexMismatch, match="chunks of 256 tokens, configured are 128"):
        check_chunking(MADE, version=3, chunk_tokens=128)


def test_a_place_that_is_a_file_cannot_be_prepared(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match=r"cannot write .*file") as caught:
        prepare_directory(tmp_path / "file")

    assert "--index-dir" in caught.value.hint


def test_others_may_read_the_manifest(tmp_path):
    save_manifest(LocalPlace(tmp_path), MADE)

    assert stat.S_IMODE(os.stat(tmp_path / MANIFEST_NAME).st_mode) == 0o644
