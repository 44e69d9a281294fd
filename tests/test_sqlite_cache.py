"""Paid replies stay: through kills, threads, damage and read-only directories."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path

import pytest

from askcode.adapters.sqlite_cache import SqliteDescriptionCache
from askcode.errors import AskcodeError
from askcode.records import QuestionAnswer, Usage

PAIRS = (QuestionAnswer("Wörter?", 'Ja, 🙂 "und" \'; DROP TABLE'), QuestionAnswer("b?", "c"))
PAID = Usage(1, 20, 9)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "descriptions.sqlite3"


def test_values_come_back_as_they_were_put_by_another_instance(path: Path) -> None:
    first = SqliteDescriptionCache(path)
    first.put("pairs", PAIRS, usage=PAID)
    first.put("note", "a summary", usage=PAID)
    first.put("empty", (), usage=Usage())

    second = SqliteDescriptionCache(path)

    assert second.get(["pairs", "note", "empty", "unknown"]) == {
        "pairs": PAIRS,
        "note": "a summary",
        "empty": (),
    }
    assert second.get([]) == {}
    assert second.warnings == ()


def test_the_last_value_of_a_key_counts(path: Path) -> None:
    cache = SqliteDescriptionCache(path)

    cache.put("k", "old", usage=PAID)
    cache.put("k", PAIRS, usage=PAID)

    assert cache.get(["k"]) == {"k": PAIRS}


def test_many_keys_are_found_in_batches(path: Path) -> None:
    cache = SqliteDescriptionCache(path)
    keys = [f"k{number}" for number in range(1200)]
    for key in keys:
        cache.put(key, key, usage=Usage())

    assert cache.get([*keys, *keys, "unknown"]) == {key: key for key in keys}


def test_what_was_spent_is_summed_in_all_and_by_day(path: Path) -> None:
    cache = SqliteDescriptionCache(path)
    assert cache.spent() == Usage()

    cache.put("a", "x", usage=PAID)
    cache.put("a", "y", usage=PAID)
    cache.put("b", "y", usage=Usage())

    assert cache.spent() == Usage(2, 40, 18)
    assert cache.spent_by_day() == {date.today().isoformat(): Usage(2, 40, 18)}


def test_threads_can_put_and_get_at_once(path: Path) -> None:
    cache = SqliteDescriptionCache(path)

    def work(name: int) -> None:
        for number in range(20):
            cache.put(f"{name}-{number}", str(number), usage=PAID)
            assert cache.get([f"{name}-{number}"]) == {f"{name}-{number}": str(number)}

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert cache.spent() == Usage(160, 3200, 1440)


PUTTING = """
import sys
from pathlib import Path
from askcode.adapters.sqlite_cache import SqliteDescriptionCache
from askcode.records import Usage
cache = SqliteDescriptionCache(Path(sys.argv[1]))
for number in range(100_000):
    cache.put(f"k{number}", str(number), usage=Usage(1, 1, 1))
    print(number, flush=True)
"""


def test_every_reply_put_before_a_kill_is_there(path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PUTTING, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    for _ in range(50):
        last = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().split("\n")
    last = max([last, *(int(line) for line in rest[:-1])])
    process.wait()
    process.stdout.close()

    cache = SqliteDescriptionCache(path)

    keys = [f"k{number}" for number in range(last + 1)]
    assert len(cache.get(keys)) == last + 1
    assert cache.spent().calls >= last + 1
    assert cache.warnings == ()


def damaged_files(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir() if "damaged" in entry.name)


def test_a_damaged_file_is_set_aside_and_the_work_goes_on(path: Path) -> None:
    content = b"not a database at all, but long enough" * 40
    path.write_bytes(content)
    cache = SqliteDescriptionCache(path)

    assert cache.get(["k"]) == {}
    cache.put("k", "v", usage=PAID)

    assert cache.get(["k"]) == {"k": "v"}
    assert damaged_files(path) == [f"{path.name}.damaged-1"]
    assert (path.parent / f"{path.name}.damaged-1").read_bytes() == content
    (warning,) = cache.warnings
    assert warning.startswith(f"{path} is damaged (file is not a database); it was renamed to ")


def test_a_file_with_broken_pages_is_set_aside_when_they_are_met(path: Path) -> None:
    cache = SqliteDescriptionCache(path)
    for number in range(400):
        cache.put(f"k{number}", "x" * 200, usage=PAID)
    cache.close()
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\xff" * (len(data) - 4096 * 2)
    path.write_bytes(bytes(data))

    cache = SqliteDescriptionCache(path)

    assert cache.get([f"k{number}" for number in range(400)]) == {}
    assert len(damaged_files(path)) == 1
    assert len(cache.warnings) == 1


def test_a_second_damaged_file_does_not_replace_the_first(path: Path) -> None:
    for content in (b"first" * 200, b"second" * 200):
        path.write_bytes(content)
        cache = SqliteDescriptionCache(path)
        cache.get(["k"])
        cache.close()

    assert damaged_files(path) == [f"{path.name}.damaged-1", f"{path.name}.damaged-2"]


def test_a_value_that_cannot_be_read_counts_as_unknown(path: Path) -> None:
    cache = SqliteDescriptionCache(path)
    cache.put("good", "v", usage=PAID)
    cache.close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO descriptions VALUES ('bad', '[[1]]'), ('cut', '[\"a')")
    connection.close()

    assert SqliteDescriptionCache(path).get(["good", "bad", "cut"]) == {"good": "v"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_can_be_read(path: Path) -> None:
    cache = SqliteDescriptionCache(path)
    cache.put("k", "v", usage=PAID)
    cache.close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        reading = SqliteDescriptionCache(path)

        assert reading.get(["k"]) == {"k": "v"}
        assert reading.spent() == PAID
        with pytest.raises(AskcodeError, match="cannot write"):
            reading.put("k", "w", usage=PAID)
    finally:
        path.parent.chmod(0o700)


def test_a_place_that_does_not_exist_is_an_error_with_its_name(tmp_path: Path) -> None:
    cache = SqliteDescriptionCache(tmp_path / "gone" / "descriptions.sqlite3")

    with pytest.raises(AskcodeError, match=r"cannot write .*/gone/descriptions\.sqlite3"):
        cache.put("k", "v", usage=PAID)
