"""Read one file of a code base as text, or say why it is none.

Nothing is followed and nothing blocks: links, pipes and devices are told apart before a file
is opened, and once more after. Line ends become "\\n", so that line numbers are counts of it.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path, PurePosixPath

from askcode.decoding import decode
from askcode.languages import language_of
from askcode.records import Skipped, SourceFile, digest_text

# The sources of a notebook are small beside the pictures in its outputs, which chunking drops.
NOTEBOOK_SIZE_FACTOR = 20

# A first line is looked at for a "#!" only.
_MAX_FIRST_LINE = 200


def read_source(root: Path, path: str, *, max_bytes: int) -> SourceFile | Skipped | None:
    """Read a file below a root; None when there is no such file (any more).

    Every text is taken here, whatever it says; `scanning.read_file` applies the rules.
    """
    found = read_bytes(root, path, max_bytes=size_limit(path, max_bytes))
    if not isinstance(found, bytes):
        return found
    decoded = decode(found)
    if decoded is None:
        return Skipped(path, "binary", bytes=len(found))
    if not decoded.text.strip():
        return Skipped(path, "empty", bytes=len(found))
    first_line = decoded.text[:_MAX_FIRST_LINE].split("\n", 1)[0]
    return SourceFile(
        path,
        decoded.text,
        language_of(path, first_line),
        digest_text(decoded.text),
        decoded.note,
    )


def current_digest(root: Path, path: str, *, max_bytes: int) -> str | None:
    """Return the digest a file would be indexed under, None when it is gone or no text."""
    source = read_source(root, path, max_bytes=max_bytes)
    return source.digest if isinstance(source, SourceFile) else None


def size_limit(path: str, max_bytes: int) -> int:
    """Return the most bytes a file may have: for a notebook, room for its outputs."""
    return max_bytes * NOTEBOOK_SIZE_FACTOR if path.lower().endswith(".ipynb") else max_bytes


def too_large(path: str, size: int) -> Skipped:
    """Return the reason for a file over the limit."""
    return Skipped(path, "too large", shown_size(size), size)


def shown_size(size: int) -> str:
    """Return a size as people read it: `20.0 MB`, 1,024 to the step."""
    if size < 1024**2:
        return f"{size / 1024:.1f} kB"
    return f"{size / 1024**2:.1f} MB" if size < 1024**3 else f"{size / 1024**3:.1f} GB"


def read_bytes(root: Path, path: str, *, max_bytes: int) -> bytes | Skipped | None:
    """Read a regular file below a root, or say why not; None when there is none."""
    if not _stays_inside(root, path):
        return None
    status = status_of(root, path)
    if not isinstance(status, os.stat_result):
        return status
    if status.st_size > max_bytes:
        return too_large(path, status.st_size)
    try:
        return _read_regular(root, path, max_bytes=max_bytes)
    except OSError as error:
        return _left_out(path, error)


def status_of(root: Path, path: str) -> os.stat_result | Skipped | None:
    """Return a file's status without following a link, or why it is left out."""
    try:
        status = os.lstat(os.path.join(root, path))
    except OSError as error:
        return _left_out(path, error)
    return kind_of(path, status) or status


def kind_of(path: str, status: os.stat_result) -> Skipped | None:
    """Return why something that is no regular file is left out."""
    if stat.S_ISREG(status.st_mode):
        return None
    if stat.S_ISLNK(status.st_mode):
        return Skipped(path, "symlink")
    if stat.S_ISDIR(status.st_mode):
        return Skipped(path, "submodule")
    return Skipped(path, "special file")


def _stays_inside(root: Path, path: str) -> bool:
    """Return whether the folders on the way are below the root and no links."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
        return False
    place = os.fspath(root)
    for part in parts[:-1]:
        place = f"{place}/{part}"
        if os.path.islink(place):
            return False
    return True


def _read_regular(root: Path, path: str, *, max_bytes: int) -> bytes | Skipped | None:
    # between lstat and open a file can become a pipe, which would block, or a link
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(root / path, flags)
    with os.fdopen(descriptor, "rb") as file:
        left_out = kind_of(path, os.fstat(descriptor))
        if left_out:
            return left_out
        data = file.read(max_bytes + 1)
        if len(data) <= max_bytes:
            return data
        return too_large(path, os.fstat(descriptor).st_size)


def _left_out(path: str, error: OSError) -> Skipped | None:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return None
    if error.errno == errno.ELOOP:
        return Skipped(path, "symlink")
    return Skipped(path, "unreadable", error.strerror or type(error).__name__)
