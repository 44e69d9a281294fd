"""Every hard file, with git and without: indexed as declared or left out for its reason."""

import os
import shutil

import pytest

from askcode.records import Skipped, SourceFile
from askcode.scanning import ScanRules, list_files, read_file
from tests.hard_repo import IGNORED, build_hard_repo


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    root = tmp_path_factory.mktemp("hard") / "repo"
    root.mkdir()
    return root, build_hard_repo(root)


def scan(root):
    rules = ScanRules()
    listing = list_files(root, rules, index_dir=root / ".askcode")
    read = {path: read_file(root, path, rules) for path in listing.paths}
    return read | {left.path: left for left in listing.skipped}, listing


def assert_as_expected(found, expectations):
    reasons = {
        path: left.reason if isinstance(left, Skipped) else None for path, left in found.items()
    }
    expected = {each.path: each.reason for each in expectations if each.reason != IGNORED}
    assert reasons == expected


def test_each_file_is_indexed_or_left_out_as_declared(hard):
    root, expectations = hard

    found, listing = scan(root)

    assert_as_expected(found, expectations)
    assert listing.warnings == ()
    assert listing.considered == len(found)


def test_texts_and_line_numbers_are_right(hard):
    root, expectations = hard
    found, _ = scan(root)

    for each in expectations:
        source = found.get(each.path)
        if isinstance(source, SourceFile):
            assert [word for word in each.find if word not in source.text] == [], each.path
            if each.line:
                text, line = each.line
                assert source.text[: source.text.index(text)].count("\n") + 1 == line, each.path


def test_nothing_that_must_not_be_read_is_read(hard):
    root, expectations = hard
    found, _ = scan(root)
    texts = {
        path: source.text
        for path, source in found.items()
        # the outputs of notebooks are cut away when cells are chunked
        if isinstance(source, SourceFile) and not path.endswith(".ipynb")
    }

    leaks = [
        (each.path, path)
        for each in expectations
        for word in each.never
        for path, text in texts.items()
        if word in text
    ]

    assert leaks == []


def test_a_repository_that_git_refuses_gives_the_same_list(hard, monkeypatch):
    root, expectations = hard
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")

    found, listing = scan(root)

    assert_as_expected(found, expectations)
    assert len(listing.warnings) == 1
    assert "safe.directory" in listing.warnings[0]


def test_a_machine_without_git_gives_the_same_list(hard, monkeypatch, tmp_path):
    root, expectations = hard
    (tmp_path / "env").symlink_to(shutil.which("env"))
    monkeypatch.setenv("PATH", str(tmp_path))

    found, listing = scan(root)

    assert_as_expected(found, expectations)
    assert listing.warnings == ("listed files without git: git is not installed",)


def test_the_scan_leaves_no_file_open(hard):
    root, _ = hard
    before = len(os.listdir("/proc/self/fd"))

    scan(root)

    assert len(os.listdir("/proc/self/fd")) == before
