"""Cut a file into chunks along its syntax, headings or cells."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from askcode.chunking_notebooks import Cell, cells_of
from askcode.chunking_prose import sections_of
from askcode.defining import definitions_of
from askcode.parts import Part, walk
from askcode.records import Chunk, SourceFile
from askcode.splitting import Run, is_closer, split

CHUNKING_VERSION = 1
"""Raised whenever the same file would be cut another way."""

PROSE = frozenset({"markdown", "rst", "asciidoc", "org"})
_TEXT = frozenset({"text", "csv", "notebook", None})


class Chunker:
    """Cut files into chunks of at most so many tokens."""

    def __init__(
        self, *, count_tokens: Callable[[Sequence[str]], list[int]], max_tokens: int
    ) -> None:
        self.count_tokens = count_tokens
        self.max_tokens = max_tokens

    def chunk(self, file: SourceFile) -> list[Chunk]:
        """Return the chunks of a file, in order: every non-blank line is in exactly one.

        A chunk's text is the lines it names; of a notebook, it is the source of cells.
        """
        if file.language == "notebook":
            cells = cells_of(file.text)
            if cells is not None:
                return self._notebook(file, cells)
        lines = file.text.split("\n")
        parts = _parts_of(file.language, lines)
        runs = split(lines, self._weights(lines), parts, limit=self.max_tokens)
        return [_chunk(file.path, file.language, lines, run, parts) for run in runs]

    def _weights(self, lines: Sequence[str]) -> list[int]:
        """Return each line's tokens, counted in one call; the sum over lines is near enough."""
        filled = [place for place, line in enumerate(lines) if line.strip()]
        weights = [0] * len(lines)
        counts = self.count_tokens([lines[place] for place in filled]) if filled else []
        for place, count in zip(filled, counts, strict=True):
            weights[place] = count
        return weights

    def _notebook(self, file: SourceFile, cells: Sequence[Cell]) -> list[Chunk]:
        weights = self._weights([line for cell in cells for line in cell.lines])
        chunks: list[Chunk] = []
        for cell in cells:
            own, weights = weights[: len(cell.lines)], weights[len(cell.lines) :]
            parts = _parts_of(cell.language, cell.lines)
            # A cell that fits is one step of its author's: it stays whole.
            cut_along = parts if sum(own) > self.max_tokens else ()
            for run in split(cell.lines, own, cut_along, limit=self.max_tokens):
                chunk = _chunk(file.path, cell.language, cell.lines, run, parts)
                chunks.append(cell.placed(chunk))
        return chunks


def outline(file: SourceFile) -> str:
    """Return one line for each definition of a file: indented as it nests, with its line."""
    if file.language == "notebook":
        return ""
    parts = _parts_of(file.language, file.text.split("\n"))
    return "\n".join(
        f"{'  ' * (part.level - 1)}{part.signature or part.name}  (line {part.head_line})"
        for part in walk(parts)
    )


def _parts_of(language: str | None, lines: Sequence[str]) -> list[Part]:
    if language in PROSE:
        return sections_of(language, lines)
    return definitions_of(language, lines)


def _kind(language: str | None) -> str:
    if language in PROSE:
        return "prose"
    return "text" if language in _TEXT else "code"


def _chunk(
    path: str, language: str | None, lines: Sequence[str], run: Run, parts: Sequence[Part]
) -> Chunk:
    around = _around(parts, _meaningful(lines, run))
    text = "\n".join(lines[run.start_line - 1 : run.end_line])
    return Chunk(
        path,
        run.start_line,
        run.end_line,
        text,
        language,
        _kind(language),
        around.name if around else None,
        around.signature if around else None,
        tuple(_beginning(parts, run)),
    )


def _meaningful(lines: Sequence[str], run: Run) -> Run:
    """Return a run without lines at its ends that only close brackets: they belong to no member."""
    start, end = run.start_line, run.end_line
    while end > start and is_closer(lines[end - 1]):
        end -= 1
    while start < end and is_closer(lines[start - 1]):
        start += 1
    return Run(start, end)


def _around(parts: Sequence[Part], run: Run) -> Part | None:
    """Return the smallest part around all lines of a run.

    Of parts with the same lines it is the outermost, and none when they stand side by side.
    """
    found: Part | None = None
    while parts:
        place = bisect_right(parts, run.start_line, key=lambda part: part.start_line)
        holders = [part for part in parts[max(place - 3, 0) : place] if _encloses(part, run)]
        if len(holders) != 1 or (found is not None and _same_lines(found, holders[0])):
            break
        found = holders[0]
        parts = found.parts
    return found


def _encloses(part: Part, run: Run) -> bool:
    return part.start_line <= run.start_line and run.end_line <= part.end_line


def _same_lines(one: Part, other: Part) -> bool:
    return (one.start_line, one.end_line) == (other.start_line, other.end_line)


def _beginning(parts: Sequence[Part], run: Run) -> list[str]:
    """Return the names of the parts that begin in a run, in order."""
    names: list[str] = []
    stack = [parts]
    while stack:
        siblings = stack.pop()
        first = bisect_left(siblings, run.start_line, key=lambda part: part.start_line)
        last = bisect_right(siblings, run.end_line, key=lambda part: part.start_line)
        if first and siblings[first - 1].end_line >= run.start_line:
            stack.append(siblings[first - 1].parts)
        names += [
            part.name for part in walk(siblings[first:last]) if part.start_line <= run.end_line
        ]
    return list(dict.fromkeys(names))
