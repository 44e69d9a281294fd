"""Read the cells of a Jupyter notebook, with the lines of the file where their source stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from askcode.languages import LANGUAGES
from askcode.records import Chunk

# Cells of one kind that follow each other share a chunk up to this many lines: many hold one line.
_MAX_JOINED_LINES = 12
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
# Where cells stand: in format 4, and up to format 3.
_CELLS = (("cells", None), ("worksheets", None, "cells", None))
_SOURCE_KEYS = ("source", "input")  # the second one up to format 3
_ALIASES = {"c++": "cpp", "c#": "c_sharp", "f#": "fsharp", "ir": "r", "node": "javascript"}


@dataclass(frozen=True, slots=True)
class Cell:
    """The source of a cell."""

    language: str | None
    lines: list[str]
    file_lines: list[int]
    """For each line, the line of the file where it stands."""

    def placed(self, chunk: Chunk) -> Chunk:
        """Return a chunk of the cell with the lines of the file."""
        return replace(
            chunk,
            start_line=self.file_lines[chunk.start_line - 1],
            end_line=self.file_lines[chunk.end_line - 1],
        )


@dataclass(slots=True)
class _Frame:
    """An object or array of the notebook that is being read."""

    path: tuple[str | None, ...]
    """The keys of the objects around it, None for an array."""
    key: str | None = None
    """The key whose value is being read; None in an array, and before a key."""
    is_object: bool = False
    kind: str = ""
    pieces: list[tuple[str, int]] = field(default_factory=list)


def cells_of(text: str) -> list[Cell] | None:
    """Return the cells with any source, in order, or None when the text is no notebook."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        return None
    language = _language(notebook)
    cells = [
        _cell(kind, pieces, language)
        for kind, pieces in _sources(text)
        if "".join(p for p, _ in pieces).strip()
    ]
    return _joined(cells)


def _language(notebook: dict[str, object]) -> str | None:
    metadata = notebook.get("metadata")
    if not isinstance(metadata, dict):
        return "python"
    for holder, key in (
        ("kernelspec", "language"),
        ("language_info", "name"),
        ("kernelspec", "name"),
    ):
        held = metadata.get(holder)
        name = held.get(key) if isinstance(held, dict) else None
        if isinstance(name, str) and name:
            for known in (name.lower(), name.lower().rstrip("0123456789.-")):
                if _ALIASES.get(known, known) in LANGUAGES:
                    return _ALIASES.get(known, known)
    return "python" if "kernelspec" not in metadata and "language_info" not in metadata else None


def _sources(text: str) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Yield each cell's type and the strings of its source with their lines."""
    stack: list[_Frame] = []
    line, at = 1, 0
    for found in _TOKENS.finditer(text):
        line += text.count("\n", at, found.start())
        at, token = found.start(), found[0]
        if token in ("{", "["):
            path = (*stack[-1].path, stack[-1].key) if stack else ()
            stack.append(_Frame(path, is_object=token == "{"))
        elif token in ("}", "]"):
            frame = stack.pop()
            if frame.is_object and frame.path in _CELLS:
                yield frame.kind, frame.pieces
        elif token == "," and stack:
            stack[-1].key = None
        elif token[0] == '"' and stack:
            _take(stack, token, line)


def _take(stack: list[_Frame], token: str, line: int) -> None:
    """Note a string: as a key, a cell's type or a piece of a cell's source."""
    frame = stack[-1]
    if frame.is_object and frame.key is None:
        frame.key = json.loads(token)
    elif frame.is_object and frame.path in _CELLS:
        if frame.key == "cell_type":
            frame.kind = json.loads(token)
        elif frame.key in _SOURCE_KEYS:
            frame.pieces.append((json.loads(token), line))
    elif frame.path[:-1] in _CELLS and frame.path[-1] in _SOURCE_KEYS:
        stack[-2].pieces.append((json.loads(token), line))


def _cell(kind: str, pieces: list[tuple[str, int]], language: str | None) -> Cell:
    lines, file_lines = [""], [pieces[0][1]]
    for text, line in pieces:
        first, *others = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if not lines[-1]:
            file_lines[-1] = line
        lines[-1] += first
        lines += others
        file_lines += [line] * len(others)
    named = {"code": language, "markdown": "markdown", "heading": "markdown"}
    return Cell(named.get(kind), lines, file_lines)


def _joined(cells: list[Cell]) -> list[Cell]:
    joined: list[Cell] = []
    for cell in cells:
        last = joined[-1] if joined else None
        is_near = last is not None and len(last.lines) + len(cell.lines) < _MAX_JOINED_LINES
        if last is not None and is_near and last.language == cell.language:
            lines = [*last.lines, "", *cell.lines]
            joined[-1] = Cell(
                cell.language, lines, [*last.file_lines, cell.file_lines[0], *cell.file_lines]
            )
        else:
            joined.append(cell)
    return joined
