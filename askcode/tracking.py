"""Read which paths a repository tracks from git's index file, without git.

Source: gitformat-index(5), versions 2 to 4.
"""

from __future__ import annotations

import struct
from pathlib import Path

from askcode.reading import read_bytes

_MAX_INDEX_BYTES = 512 * 1024**2
_EXTENDED = 0x4000
_DIRECTORY_MODE = 0o040000
# 10 numbers of 4 bytes (times, device, inode, mode, owner, size) before the object's name
_STAT_BYTES = 40
_MODE_PLACE = 24


def tracked_paths(git_dir: Path) -> frozenset[bytes] | None:
    """Return the paths in the index of a git directory; None when it cannot be read."""
    data = read_bytes(git_dir, "index", max_bytes=_MAX_INDEX_BYTES)
    if data is None:
        return frozenset()
    if not isinstance(data, bytes):
        return None
    # a repository says nowhere in this file how long its object names are
    return _paths(data, hash_bytes=20) or _paths(data, hash_bytes=32)


def _paths(data: bytes, *, hash_bytes: int) -> frozenset[bytes] | None:
    if len(data) < 12 or data[:4] != b"DIRC":
        return None
    version, count = struct.unpack(">II", data[4:12])
    if version not in (2, 3, 4):
        return None
    found: list[bytes] = []
    place, previous = 12, b""
    try:
        for _ in range(count):
            start = place
            mode = struct.unpack_from(">I", data, start + _MODE_PLACE)[0]
            place = start + _STAT_BYTES + hash_bytes
            flags = struct.unpack_from(">H", data, place)[0]
            place += 4 if flags & _EXTENDED else 2
            if version == 4:
                cut, place = _variable_number(data, place)
                end = data.index(b"\0", place)
                previous = previous[: len(previous) - cut] + data[place:end]
                place = end + 1
            else:
                end = data.index(b"\0", place)
                previous = data[place:end]
                place = start + (end - start + 8) // 8 * 8
            if mode != _DIRECTORY_MODE:
                found.append(previous)
    except (struct.error, ValueError, IndexError):
        return None
    return frozenset(found) if _is_sound(found, data, place) else None


def _is_sound(found: list[bytes], data: bytes, place: int) -> bool:
    """Return whether the entries end where extensions or the checksum begin, in order."""
    extension = data[place : place + 4]
    if extension == b"link":
        return False
    return found == sorted(found) and place <= len(data) - 20


def _variable_number(data: bytes, place: int) -> tuple[int, int]:
    """Read a number of seven bits a byte, each further byte adding one; and its end."""
    value = data[place] & 0x7F
    while data[place] & 0x80:
        place += 1
        value = ((value + 1) << 7) | (data[place] & 0x7F)
    return value, place + 1
