"""Put the files of submodules and nested repositories in the place of their folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from askcode.listing import Candidates, list_candidates


def list_nested(root: Path, candidates: Candidates) -> Candidates:
    """Return the candidates with each repository below the root listed by its own rules.

    A submodule that is not checked out stays a single path.
    """
    paths: list[bytes] = []
    warnings = list(candidates.warnings)
    unreadable = list(candidates.unreadable)
    for path in candidates.paths:
        folder = path.rstrip(b"/")
        inside = root / os.fsdecode(folder)
        if not _is_repository(inside):
            paths.append(path)
            continue
        found = list_nested(inside, list_candidates(inside))
        paths += (folder + b"/" + name for name in found.paths)
        unreadable += (
            replace(left, path=f"{os.fsdecode(folder)}/{left.path}") for left in found.unreadable
        )
        warnings += _placed(found.warnings, os.fsdecode(folder))
    return Candidates(tuple(paths), tuple(unreadable), tuple(warnings))


def _placed(warnings: tuple[str, ...], folder: str) -> Iterator[str]:
    for warning in warnings:
        yield f"{folder}: {warning}"


def _is_repository(folder: Path) -> bool:
    try:
        is_folder = stat.S_ISDIR(os.lstat(folder).st_mode)
    except OSError:
        return False
    return is_folder and (folder / ".git").exists()
