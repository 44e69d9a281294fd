"""Tell what LanceDB's errors mean: no room, no permission, a conflict, or damage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from askcode.adapters.storage_faults import why_unavailable
from askcode.errors import AskcodeError, IndexDamaged, StorageUnavailable, UsageError

# Everything lancedb 0.40 raises for damaged files was one of these (or a Rust panic).
FAULTS = (RuntimeError, ValueError, OSError, ArithmeticError, LookupError, TypeError)

_NO_ROOM = re.compile(r"os error (28|122)\b|no space left|quota exceeded", re.IGNORECASE)
_FORBIDDEN = re.compile(
    r"os error (1|13|30)\b|permission denied|read-only file system", re.IGNORECASE
)
_CONFLICT = re.compile(
    r"commit conflict|concurrent (writer|commit|transaction)|too many (concurrent|retries)",
    re.IGNORECASE,
)
_SOURCE_PLACE = re.compile(r",? /\S+\.rs:\d+:\d+")


def is_conflict(error: BaseException) -> bool:
    """Return whether another commit came first, so that trying again can work."""
    return _CONFLICT.search(str(error)) is not None


@contextmanager
def faults_named(place: str) -> Iterator[None]:
    """Raise what LanceDB raises as ours.

    Raises:
        UsageError: the directory cannot be written.
        IndexDamaged: files of the index are missing or unreadable.
        StorageUnavailable: the index lies in object storage that cannot be reached.
        AskcodeError: the disk is full, or another process keeps committing.
    """
    try:
        yield
    except FAULTS as error:
        raise _named(error, place) from error
    except BaseException as error:
        # a panic in the Rust part is no Exception, and its class cannot be imported
        if type(error).__name__ != "PanicException":
            raise
        raise _damaged(error, place) from error


def _named(error: Exception, place: str) -> AskcodeError:
    message = str(error)
    if "://" in place and (reason := why_unavailable(message)):
        return StorageUnavailable(f"cannot use {place}: {reason.text}", hint=reason.hint)
    if _NO_ROOM.search(message):
        return AskcodeError(
            f"no space left on device: {place}", hint="make room, then run: askcode index"
        )
    if _FORBIDDEN.search(message):
        return UsageError(f"cannot write {place}", hint="put the index elsewhere with --index-dir")
    if is_conflict(error):
        return AskcodeError(
            f"another process keeps writing to {place}", hint="try again when it is done"
        )
    return _damaged(error, place)


def _damaged(error: BaseException, place: str) -> IndexDamaged:
    detail = _SOURCE_PLACE.sub("", " ".join(str(error).split()))[:200]
    return IndexDamaged(
        f"the index in {place} is damaged or incomplete ({detail})", hint="run: askcode index"
    )
