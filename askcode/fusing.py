"""Fuse ranked lists of chunks into one."""

from __future__ import annotations

from collections.abc import Sequence

from askcode.records import Candidate, Hit

RRF_K = 60
"""Reciprocal rank fusion's constant, Cormack et al. 2009."""


def fuse(vector: Sequence[Candidate], text: Sequence[Candidate]) -> list[Hit]:
    """Return the candidates of both searches, best first, by reciprocal ranks."""
    candidates: dict[tuple[str, int, int], Candidate] = {}
    vector_ranks = _ranks(vector, candidates)
    text_ranks = _ranks(text, candidates)
    hits = [
        _hit(candidate, vector_ranks.get(key), text_ranks.get(key))
        for key, candidate in candidates.items()
    ]
    return sorted(hits, key=lambda hit: -hit.score)


def _ranks(
    found: Sequence[Candidate], candidates: dict[tuple[str, int, int], Candidate]
) -> dict[tuple[str, int, int], int]:
    ranks: dict[tuple[str, int, int], int] = {}
    for rank, candidate in enumerate(found, start=1):
        chunk = candidate.chunk
        key = (chunk.path, chunk.start_line, chunk.end_line)
        candidates.setdefault(key, candidate)
        ranks.setdefault(key, rank)
    return ranks


def _hit(candidate: Candidate, vector_rank: int | None, text_rank: int | None) -> Hit:
    shares = {
        name: 1 / (RRF_K + rank)
        for name, rank in (("vector", vector_rank), ("text", text_rank))
        if rank is not None
    }
    return Hit(
        chunk=candidate.chunk,
        description=candidate.description,
        file_digest=candidate.file_digest,
        score=sum(shares.values()),
        vector_rank=vector_rank,
        text_rank=text_rank,
        shares=shares,
    )
