import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import lancedb
import numpy as np
import pytest

from askcode.adapters.lance_store import LanceStore, create_store, drop_other_tables, open_store
from askcode.errors import AskcodeError, IndexDamaged, IndexMissing, UsageError
from askcode.records import Filters
from tests.contracts.store_contract import ALL, EAST, StoreContract, make_row, paths, put


class TestLanceStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return create_store(tmp_path / "index", table="chunks", dim=4)


def size_of(directory):
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def filled(directory):
    store = create_store(directory, table="chunks", dim=4)
    for number in range(3):
        put(store, *(make_row(f"{number}.py", line=line) for line in range(1, 20)))
    store.finish()
    put(store, make_row("last.py", words="last"))
    return store


def read_all(directory):
    store = open_store(directory, table="chunks", dim=4)
    store.verify()
    return store


def test_an_opened_table_is_the_one_that_was_filled(tmp_path):
    filled(tmp_path)

    store = open_store(tmp_path, table="chunks", dim=4)

    assert {path: file.chunks for path, file in store.files().items()} == {
        "0.py": 19,
        "1.py": 19,
        "2.py": 19,
        "last.py": 1,
    }
    assert paths(store.matching(["last"], k=5, filters=ALL)) == ["last.py"]


def test_more_paths_than_fit_in_one_commit_are_all_replaced(tmp_path):
    store = create_store(tmp_path, table="chunks", dim=4)
    names = [f"{number}'.py" for number in range(2500)]
    put(store, *(make_row(name) for name in names))
    assert len(store.files()) == 2500

    store.replace({"new.py": [make_row("new.py")]}, removed=names[:2400])

    assert set(store.files()) == {"new.py", *names[2400:]}


def test_no_directory_is_no_index(tmp_path):
    with pytest.raises(IndexMissing, match="there is no index"):
        open_store(tmp_path / "none", table="chunks", dim=4)

    assert not (tmp_path / "none").exists()


def test_another_dimension_is_not_opened(tmp_path):
    filled(tmp_path)

    with pytest.raises(IndexDamaged, match="other columns"):
        open_store(tmp_path, table="chunks", dim=8)


def overwrite(path):
    path.write_bytes(bytes(range(256)) * (path.stat().st_size // 256 + 1))


DAMAGES = {
    "no manifests": ("_versions/*.manifest", Path.unlink),
    "empty manifests": ("_versions/*.manifest", lambda path: os.truncate(path, 0)),
    "cut manifests": ("_versions/*.manifest", lambda path: os.truncate(path, 100)),
    "other bytes in manifests": ("_versions/*.manifest", overwrite),
    "no versions": ("_versions", shutil.rmtree),
    "no data files": ("data/*", Path.unlink),
    "no data folder": ("data", shutil.rmtree),
    "empty data files": ("data/*", lambda path: os.truncate(path, 0)),
    "cut data files": ("data/*", lambda path: os.truncate(path, path.stat().st_size // 2)),
    "other bytes in data files": ("data/*", overwrite),
    "no search index": ("_indices", shutil.rmtree),
    "cut search index": ("_indices/*/*", lambda path: os.truncate(path, 100)),
    "no table": (".", shutil.rmtree),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_as_damage(tmp_path, damage):
    filled(tmp_path)
    pattern, harm = DAMAGES[damage]
    table = tmp_path / "chunks.lance"
    for path in [table] if pattern == "." else sorted(table.glob(pattern)):
        harm(path)

    with pytest.raises(IndexDamaged, match="damaged or incomplete") as caught:
        read_all(tmp_path)

    assert caught.value.hint == "run: askcode index"
    assert ".rs:" not in caught.value.message


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table_can_be_made_anew(tmp_path, damage):
    filled(tmp_path)
    pattern, harm = DAMAGES[damage]
    table = tmp_path / "chunks.lance"
    for path in [table] if pattern == "." else sorted(table.glob(pattern)):
        harm(path)

    put(create_store(tmp_path, table="chunks", dim=4), make_row("a.py"))

    assert list(read_all(tmp_path).files()) == ["a.py"]


def test_a_reader_survives_the_clean_up_of_a_run(tmp_path):
    writer = filled(tmp_path)
    reader = open_store(tmp_path, table="chunks", dim=4)
    reader.files()

    put(writer, make_row("0.py", words="fresh"))
    writer.finish()

    assert reader.files().keys() == {"0.py", "1.py", "2.py", "last.py"}
    assert paths(reader.matching(["fresh"], k=5, filters=ALL)) in (["0.py"], [])
    assert reader.nearest(EAST, k=5, filters=ALL)


def test_two_writers_do_not_undo_each_other(tmp_path):
    first = create_store(tmp_path, table="chunks", dim=4)
    second = open_store(tmp_path, table="chunks", dim=4)

    for number in range(5):
        put(first, make_row(f"a{number}.py"))
        put(second, make_row(f"b{number}.py"))

    assert len(open_store(tmp_path, table="chunks", dim=4).files()) == 10


@pytest.mark.slow
def test_a_hundred_runs_leave_the_directory_small(tmp_path):
    def rows(number, digest):
        rng = np.random.default_rng(number)
        return [
            make_row(
                f"{number}.py",
                line=line,
                digest=digest,
                words=" ".join(f"w{word}" for word in rng.integers(0, 2000, 100)),
                vector=rng.standard_normal((1, 4)).astype(np.float32),
            )
            for line in range(1, 11)
        ]

    store = create_store(tmp_path, table="chunks", dim=4)
    store.replace({f"{number}.py": rows(number, "d0") for number in range(50)})
    store.finish()
    fresh = size_of(tmp_path)

    for run in range(100):
        store.replace({f"{run % 50}.py": rows(run % 50, f"d{run}")})
        assert store.finish() == []

    assert size_of(tmp_path) <= 2 * fresh
    assert len(store.nearest(EAST, k=1000, filters=ALL)) == 500


@pytest.mark.slow
def test_a_large_table_is_searched_through_an_index(tmp_path):
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((40, 32))

    def rows(number):
        vector = centres[rng.integers(40, size=2)] + rng.standard_normal((2, 32)) / 3
        vector /= np.linalg.norm(vector, axis=1, keepdims=True)
        return [make_row(f"{number % 20}/{number}.py", vector=vector.astype(np.float32))]

    made = create_store(tmp_path, table="chunks", dim=32)
    made.replace({f"{number % 20}/{number}.py": rows(number) for number in range(4000)})
    near = centres[:20] + rng.standard_normal((20, 32)) / 3
    queries = np.concatenate([near, rng.standard_normal((10, 32))]).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    filters = Filters(path_globs=("7/",))

    def search(store):
        return [
            set(paths(store.nearest(query[None], k=50, filters=one)))
            for one in (ALL, filters)
            for query in queries
        ]

    exact = search(made)
    table = lancedb.connect(tmp_path).open_table("chunks")
    indexing = LanceStore(table, place=str(tmp_path), dim=32, indexed_rows=1000)
    assert indexing.finish() == []

    assert [index.columns for index in table.list_indices()] == [["search_text"], ["vectors"]]
    found = search(open_store(tmp_path, table="chunks", dim=32))
    assert np.mean([len(a & b) / 50 for a, b in zip(exact, found, strict=True)]) >= 0.99

    put(indexing, make_row("new.py", vector=queries[:1]))
    indexing.replace({}, removed=["7/7.py"])
    assert indexing.finish() == []
    assert paths(indexing.nearest(queries[:1], k=1, filters=ALL)) == ["new.py"]
    assert len(indexing.nearest(queries[:1], k=1000, filters=filters)) == 199


def test_other_tables_are_dropped(tmp_path):
    filled(tmp_path)
    create_store(tmp_path, table="newer", dim=4)

    assert drop_other_tables(tmp_path, keep="newer") == []

    assert [path.name for path in tmp_path.glob("*.lance")] == ["newer.lance"]


# Root may write anywhere: the process becomes nobody, once it has imported what it needs.
UNPRIVILEGED = """
import os, sys, pyarrow.dataset
from askcode.adapters.lance_store import LanceStore, create_store, open_store
from askcode.errors import UsageError
create_store(sys.argv[2], table="other", dim=4).files()
if os.geteuid() == 0:
    os.seteuid(65534)
store = open_store(sys.argv[1], table="chunks", dim=4)
"""


@pytest.fixture
def open_folder():
    """A folder that other users reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_read_only_index_is_searched(open_folder):
    filled(open_folder / "index")

    printed = run_read_only(open_folder, "store.verify(); print(len(store.files()))")

    assert printed == "4\n"


def test_a_read_only_index_says_it_cannot_be_written(open_folder):
    filled(open_folder / "index")

    printed = run_read_only(
        open_folder,
        "try: store.replace({}, removed=['0.py'])\n"
        "except UsageError as error: print(error.message, '|', error.hint, store.finish())",
    )

    told = f"cannot write {open_folder / 'index'}"
    assert printed == (
        f"{told} | put the index elsewhere with --index-dir "
        f"['the index could not be tidied up: {told}']\n"
    )


def run_read_only(directory, script):
    for path in (directory / "index").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (directory / "index").chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", UNPRIVILEGED + script, directory / "index", directory / "other"],
        capture_output=True,
        text=True,
        check=False,
    )
    for path in (directory / "index", *(directory / "index").rglob("*")):
        path.chmod(0o755)
    assert done.stderr == ""
    return done.stdout


def can_mount(directory):
    if os.geteuid() != 0 or not shutil.which("mount"):
        return False
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(directory)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_full_disk_is_named_and_loses_nothing(tmp_path):
    if not can_mount(tmp_path):
        pytest.skip("mounting is not allowed here")
    try:
        store = create_store(tmp_path, table="chunks", dim=4)
        put(store, make_row("kept.py"))
        noise = np.random.default_rng(0).bytes(600_000).hex()

        with pytest.raises(AskcodeError, match=f"no space left on device: {tmp_path}") as caught:
            put(store, make_row("large.py", text=noise))

        assert caught.value.exit_code == 1
        assert list(open_store(tmp_path, table="chunks", dim=4).files()) == ["kept.py"]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=False)


def test_a_place_that_is_a_file_cannot_be_written(tmp_path):
    place = tmp_path / "file"
    place.write_text("")

    with pytest.raises((UsageError, IndexDamaged)):
        create_store(place / "index", table="chunks", dim=4)
