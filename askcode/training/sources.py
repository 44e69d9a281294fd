"""Read the list of packages that the model learns from."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from askcode.training.packages import MAX_PAIRS

LIST_FILE = Path(__file__).resolve().parent / "sources.toml"

PYPI, NPM, DEBIAN_SOURCE, DEBIAN = "pypi", "npm", "debian-source", "debian"
KINDS = (PYPI, NPM, DEBIAN_SOURCE, DEBIAN)


@dataclass(frozen=True, slots=True)
class Source:
    """A package by the name and version that its client takes."""

    kind: str
    name: str
    version: str
    licence: str = ""
    most: int = MAX_PAIRS


def read_sources(path: Path = LIST_FILE) -> list[Source]:
    """Return the packages in the order of the list.

    Raises:
        ValueError: the list names a kind of package that is not known.
    """
    table = tomllib.loads(path.read_text("utf-8"))
    unknown = set(table) - set(KINDS)
    if unknown:
        raise ValueError(f"{path}: no such kind of package: {', '.join(sorted(unknown))}")
    return [
        Source(kind, name, entry) if isinstance(entry, str) else Source(kind, name, **entry)
        for kind in KINDS
        for name, entry in table.get(kind, {}).items()
    ]
