"""Keep an index in a folder of this machine."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from askcode.errors import AskcodeError, UsageError
from askcode.locking import index_lock


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """An IndexPlace in a folder, which may not be there yet."""

    directory: Path

    @property
    def uri(self) -> str:
        """Return the folder's path."""
        return str(self.directory)

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, or None.

        Raises:
            OSError: a file is there that cannot be read.
        """
        try:
            return (self.directory / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file in one step that a crash cannot divide.

        Raises:
            UsageError: the folder cannot be written.
            AskcodeError: the disk is full.
        """
        try:
            _write_atomically(self.directory / name, data)
        except OSError as error:
            raise _cannot_write(self.directory, error) from error

    def sizes(self) -> dict[str, int]:
        """Return the bytes below each name in the folder, those of folders with a slash."""
        if not self.directory.is_dir():
            return {}
        return {
            f"{path.name}/" if path.is_dir() else path.name: _bytes_below(path)
            for path in self.directory.iterdir()
        }

    @contextmanager
    def hold(self, *, wait: bool) -> Iterator[Callable[[], None]]:
        """Make the folder and hold it; the operating system keeps the lock.

        Raises:
            IndexLocked: another process holds it, and `wait` is off.
            UsageError: it cannot be written.
        """
        prepare_directory(self.directory)
        with index_lock(self.directory, wait=wait):
            yield _still_held


def prepare_directory(index_dir: Path) -> None:
    """Make the index directory, with an ignore file that hides it from git.

    Raises:
        UsageError: it cannot be written.
        AskcodeError: the disk is full.
    """
    try:
        index_dir.mkdir(parents=True, exist_ok=True)
        ignore = index_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="ascii")
        if not os.access(index_dir, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _cannot_write(index_dir, error) from error


def _still_held() -> None:
    """Do nothing: while the process lives, so does its lock."""


def _bytes_below(path: Path) -> int:
    if not path.is_dir():
        return _bytes_of(path)
    return sum(
        _bytes_of(Path(folder) / name) for folder, _, names in os.walk(path) for name in names
    )


def _bytes_of(file: Path) -> int:
    try:
        return file.lstat().st_size
    except FileNotFoundError:
        # a run elsewhere tidied it up
        return 0


def _write_atomically(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _cannot_write(index_dir: Path, error: OSError) -> AskcodeError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return AskcodeError(
            f"no space left on device: {index_dir}", hint="make room, then run: askcode index"
        )
    return UsageError(
        f"cannot write {index_dir}: {error.strerror}",
        hint="put the index elsewhere with --index-dir",
    )
