"""The named parts of a file: definitions of code, sections of prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(slots=True)
class Part:
    """A named stretch of lines, 1-based and inclusive, with the parts inside it."""

    name: str
    """Qualified by the names around it: `Parser.parse`, `Guide > Install`."""
    start_line: int
    """Of the first comment, decorator or attribute that belongs to it."""
    end_line: int
    head_line: int
    """Of the definition itself."""
    level: int = 0
    signature: str | None = None
    parts: list[Part] = field(default_factory=list)

    def encloses(self, start_line: int, end_line: int) -> bool:
        """Return whether all lines from start to end are the part's."""
        return self.start_line <= start_line and end_line <= self.end_line


def walk(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts and what is inside them, in the order of the text."""
    stack = list(parts)[::-1]
    while stack:
        part = stack.pop()
        yield part
        stack += reversed(part.parts)


def cut_before(parts: Iterable[Part], line: int) -> list[Part]:
    """Return the parts that begin above a line, ended there."""
    kept = [part for part in parts if part.start_line < line]
    for part in walk(kept):
        part.end_line = min(part.end_line, line - 1)
        part.parts = [inner for inner in part.parts if inner.start_line < line]
    return kept


def settle(top: Part, order: Mapping[int, int]) -> None:
    """Put siblings in the order of the text, and end each before the next one's comments.

    Order gives the place of each part, by its id().
    """
    for part in [top, *walk(top.parts)]:
        part.parts.sort(key=lambda inner: order[id(inner)])
        for first, second in pairwise(part.parts):
            if first.head_line < second.start_line <= first.end_line:
                first.end_line = second.start_line - 1


def reach(parts: Sequence[Part], last_line: int) -> None:
    """Let each part go on until the next begins."""
    for first, second in pairwise(parts):
        first.end_line = second.start_line - 1
    for part in parts[-1:]:
        part.end_line = last_line


def join_clauses(parts: list[Part]) -> None:
    """Make neighbours of the same name one part each: equations, overloads, clauses."""
    for siblings in [parts, *(part.parts for part in walk(parts))]:
        joined: list[Part] = []
        for part in siblings:
            last = joined[-1] if joined else None
            if last is not None and last.name == part.name and not (last.parts or part.parts):
                last.end_line = max(last.end_line, part.end_line)
            else:
                joined.append(part)
        siblings[:] = joined
