"""The unit the model learns from: words that describe code, and the code."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

DOC = "doc"
"""A doc comment, and the definition without it."""
NAME = "name"
"""The words of a name and its signature, and the body with the name masked."""
GUIDE = "guide"
"""A section of a guide, and the code that it shows."""
CHANGE = "change"
"""A line of a changelog, and the definition that it names."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Words and the code that they are about, with where both come from."""

    text: str
    code: str
    kind: str
    language: str
    package: str
    path: str
    name: str = ""
    """The qualified name of what the code defines."""


def write_pairs(path: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs as compressed JSON lines, all or nothing; return how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    count = 0
    # a fixed time of writing: the same pairs give the same bytes
    with (
        unfinished.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as file,
    ):
        for pair in pairs:
            file.write(json.dumps(asdict(pair), ensure_ascii=True).encode() + b"\n")
            count += 1
    unfinished.replace(path)
    return count


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file in order."""
    with gzip.open(path, "rt", encoding="ascii") as file:
        for line in file:
            yield Pair(**json.loads(line))
