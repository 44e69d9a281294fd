"""Say what a chunk is found by: the texts that are embedded, and the words that are searched."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from askcode.records import Chunk, Description
from askcode.tokenizing import code_tokens

# Defined names in a header; more would drown the code in a mean of token vectors.
MAX_NAMES = 12

# A mean over a long chunk blurs what a few of its lines do: pieces of 12 lines add 0.015 to
# NDCG@10; pieces of 6, 8, 15 and 16 lines and overlapping ones add less.
PIECE_LINES = 12

# The definitions of a whole file say the same of each of its chunks.
_NOT_SEARCHED = frozenset({"outline"})


def passages(chunk: Chunk, description: Description) -> list[str]:
    """Return the texts to embed, one vector each: a search takes the best of them."""
    return [f"{header(chunk)}\n{chunk.text}", *_pieces(chunk), *_spoken(description)]


def search_text(chunk: Chunk, description: Description) -> str:
    """Return the words full-text search compares, separated by blanks."""
    fields = [
        path_words(chunk.path),
        PurePosixPath(chunk.path).stem,
        *chunk.definitions,
        chunk.symbol or "",
        chunk.signature or "",
        chunk.text,
        *_spoken(description),
    ]
    return " ".join(code_tokens("\n".join(fields)))


def header(chunk: Chunk) -> str:
    """Return what stands around a chunk: path, enclosing symbol, names it defines, signature."""
    names = [chunk.symbol, *chunk.definitions[:MAX_NAMES], chunk.signature]
    return "\n".join([path_words(chunk.path), *dict.fromkeys(name for name in names if name)])


def path_words(path: str) -> str:
    """Return the parts of a path as words."""
    return " ".join(re.split(r"[/.]+", path))


def _pieces(chunk: Chunk) -> list[str]:
    lines = chunk.text.split("\n")
    if len(lines) <= PIECE_LINES:
        return []
    starts = range(0, len(lines), PIECE_LINES)
    texts = ("\n".join(lines[start : start + PIECE_LINES]) for start in starts)
    return [f"{path_words(chunk.path)}\n{text}" for text in texts if text.strip()]


def _spoken(description: Description) -> list[str]:
    """Return what was said about the chunk in words."""
    answered = [f"{item.question}\n{item.answer}" for item in description.questions]
    notes = (
        note.text for note in description.notes if note.text and note.kind not in _NOT_SEARCHED
    )
    return [*answered, *notes]
