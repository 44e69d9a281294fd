"""Cut texts into pieces that a model reads whole, and put their vectors together again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from askcode.records import Vectors

Array = npt.NDArray[np.float32]

# One batch stays under this many characters, padding counted: 16 windows of 512 tokens.
MAX_BATCH_CHARACTERS = 32_768
MAX_BATCH_TEXTS = 64

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text at `owner`, with its length in tokens."""

    owner: int
    text: str
    tokens: int


def cut_texts(texts: Sequence[str], tokenizer: Any, window: int) -> list[Piece]:
    """Return the pieces of all texts, in order, none longer than the window."""
    clean = [clean_text(text) for text in texts]
    # a token has at least one byte, so a text of few bytes needs no counting
    short = [len(text) <= window and len(text.encode()) <= window for text in clean]
    long_texts = [text for text, is_short in zip(clean, short, strict=True) if not is_short]
    encodings = iter(tokenizer.encode_batch(long_texts, add_special_tokens=False))
    pieces: list[Piece] = []
    for owner, (text, is_short) in enumerate(zip(clean, short, strict=True)):
        if is_short:
            pieces.append(Piece(owner, text, 1))
        else:
            pieces += _cut(owner, text, next(encodings), window)
    return pieces


def batches(pieces: Sequence[Piece]) -> Iterator[list[int]]:
    """Yield the places of pieces that go to the model together: of like length, few enough."""
    batch: list[int] = []
    for place in sorted(range(len(pieces)), key=lambda place: len(pieces[place].text)):
        longest = max(len(pieces[place].text), 1)
        if batch and (
            len(batch) == MAX_BATCH_TEXTS or longest * (len(batch) + 1) > MAX_BATCH_CHARACTERS
        ):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def joined(pieces: Sequence[Piece], vectors: Array, count: int) -> Array:
    """Return the mean of each text's pieces, weighted by their tokens."""
    sums = np.zeros((count, vectors.shape[1]), np.float32)
    weights = np.array([max(piece.tokens, 1) for piece in pieces], np.float32)
    np.add.at(sums, [piece.owner for piece in pieces], vectors * weights[:, None])
    return sums


def unit_rows(vectors: Array) -> Vectors:
    """Scale each row to length one; what is no direction becomes a row of zeros."""
    finite = np.where(np.isfinite(vectors).all(axis=1, keepdims=True), vectors, 0)
    norms = np.linalg.norm(finite, axis=1, keepdims=True)
    units: Vectors = np.divide(finite, norms, out=np.zeros_like(finite), where=norms > 1e-12)
    return units


def clean_text(text: str) -> str:
    """Replace lone surrogates, which tokenizers refuse."""
    return _SURROGATE.sub("\ufffd", text)


def _cut(owner: int, text: str, encoding: Any, window: int) -> Iterator[Piece]:
    words, offsets, total = encoding.word_ids, encoding.offsets, len(encoding.ids)
    start = 0
    while total - start > window:
        end = start + window
        # a word cut in two has other tokens than the whole one
        while end > start and words[end] == words[end - 1]:
            end -= 1
        end = end if end > start else start + window
        first = offsets[start][0] if start else 0
        yield Piece(owner, text[first : offsets[end][0]], end - start)
        start = end
    yield Piece(owner, text[offsets[start][0] if start else 0 :], total - start)
