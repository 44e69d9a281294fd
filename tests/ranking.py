"""Short ways to write chunks, candidates and rows for the tests of the ranking."""

from __future__ import annotations

from askcode.records import Candidate, Chunk, Description, Row
from askcode.representing import passages, search_text


def chunk(path, text="pass", *, start=1, definitions=(), symbol=None, language=None):
    end = start + text.count("\n")
    return Chunk(
        path, start, end, text, language=language, definitions=tuple(definitions), symbol=symbol
    )


def candidate(path, text="pass", *, score=1.0, start=1, definitions=()):
    found = chunk(path, text, start=start, definitions=definitions)
    return Candidate(found, Description(), "", score)


def row(of, embedder, *, description=None, file_digest="0"):
    known = description or Description()
    vectors = embedder.embed_passages(passages(of, known))
    return Row(of, known, file_digest, search_text(of, known), vectors)
