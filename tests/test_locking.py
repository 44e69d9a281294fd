import os
import signal
import subprocess
import sys

import pytest

from askcode.errors import IndexLocked, UsageError
from askcode.locking import index_lock

HOLD = """
import sys
from pathlib import Path
from askcode.locking import index_lock
with index_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_the_second_run_is_told_at_once_who_holds_the_index(tmp_path, holder):
    with pytest.raises(IndexLocked) as caught, index_lock(tmp_path):
        pass

    assert caught.value.exit_code == 6
    assert caught.value.message == f"another askcode index (pid {holder.pid}) is running here"


def test_a_lock_ends_with_its_block(tmp_path):
    for _ in range(2):
        with index_lock(tmp_path):
            assert (tmp_path / "lock.pid").read_text() == f"{os.getpid()}\n"

    assert not (tmp_path / "lock.pid").exists()


def test_a_lock_ends_with_an_error_in_its_block(tmp_path):
    with pytest.raises(ZeroDivisionError), index_lock(tmp_path):
        raise ZeroDivisionError

    with index_lock(tmp_path):
        pass


def test_the_lock_of_a_killed_process_never_blocks(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "lock.pid").read_text() == f"{holder.pid}\n"

    with index_lock(tmp_path):
        assert (tmp_path / "lock.pid").read_text() == f"{os.getpid()}\n"


def test_waiting_goes_on_when_the_other_run_ends(tmp_path, holder):
    waiter = subprocess.Popen(
        [sys.executable, "-c", HOLD.replace("sys.argv[1])", "sys.argv[1]), wait=True"), tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with waiter:
        assert waiter.poll() is None

        holder.stdin.close()
        assert holder.wait() == 0

        assert waiter.stdout.readline() == b"held\n"
        waiter.stdin.close()


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot write"), index_lock(tmp_path / "file"):
        pass
