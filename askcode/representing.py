"""Say what a chunk is found by: the texts that are embedded, and the words that are searched."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from askcode.records import Chunk, Description
from askcode.tokenizing import code_tokens

MAX_NAMES = 12
"""Defined names in a header; more would drown the code in a mean of token vectors."""


def passages(chunk: Chunk, description: Description) -> list[str]:
    """Return the texts to embed, one vector each: a search takes the best of them."""
    return [f"{header(chunk)}\n{chunk.text}", *_spoken(description)]


def search_text(chunk: Chunk, description: Description) -> str:
    """Return the words full-text search compares, separated by blanks."""
    path = path_words(chunk.path)
    names = " ".join([*chunk.definitions, chunk.symbol or ""])
    fields = [path, path, _stem(chunk.path), names, chunk.signature or "", chunk.text]
    return " ".join(code_tokens("\n".join([*fields, *_spoken(description)])))


def header(chunk: Chunk) -> str:
    """Return what stands around a chunk: path, enclosing symbol, names it defines."""
    names = [chunk.symbol, *chunk.definitions[:MAX_NAMES], chunk.signature]
    return "\n".join([path_words(chunk.path), *dict.fromkeys(name for name in names if name)])


def path_words(path: str) -> str:
    """Return the parts of a path as words."""
    return " ".join(re.split(r"[/.]+", path))


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def _spoken(description: Description) -> list[str]:
    """Return what was said about the chunk in words."""
    answered = [f"{item.question}\n{item.answer}" for item in description.questions]
    return [*answered, *(note.text for note in description.notes)]
