"""Let one run at a time write to an index."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from askcode.errors import IndexLocked, UsageError

LOCK_NAME = "lock"
OWNER_NAME = "lock.pid"


@contextmanager
def index_lock(index_dir: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the index for this process, until the block ends or the process does.

    The operating system keeps the lock, so that one of a dead process never blocks; the
    process number beside it is for the message alone.

    Raises:
        IndexLocked: another process holds it, and `wait` is off.
        UsageError: the directory cannot be written.
    """
    owner = index_dir / OWNER_NAME
    lock = FileLock(index_dir / LOCK_NAME, timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout as error:
        raise IndexLocked(
            f"another askcode index{_shown(owner)} is running here",
            hint="wait for it to end, or use --wait",
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot write {index_dir}: {error.strerror}",
            hint="put the index elsewhere with --index-dir",
        ) from error
    try:
        _write_owner(owner)
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


def _shown(owner: Path) -> str:
    try:
        text = owner.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
    return f" (pid {text})" if text.isdecimal() else ""


def _write_owner(owner: Path) -> None:
    try:
        owner.write_text(f"{os.getpid()}\n", encoding="ascii")
    except OSError:
        # a full disk shall be reported by the write that needs the room
        return
