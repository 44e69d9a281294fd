"""Let a cross-encoder read the best hits together with the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from askcode.fusing import RRF_K
from askcode.protocols import Reranker
from askcode.records import Hit

# Reading a pair costs milliseconds, and what is ranked lower is seldom right.
RERANKED = 50

# As much as both searches together: models trained on prose misjudge code, so the rest of the
# ranking keeps its say.
WEIGHT = 1.0


def rerank(question: str, hits: Sequence[Hit], reranker: Reranker) -> list[Hit]:
    """Return the hits in a new order: the best gain by their place in the model's judgement."""
    best, rest = hits[:RERANKED], hits[RERANKED:]
    scores = reranker.score(question, [_shown(hit) for hit in best])
    order = sorted(range(len(best)), key=lambda place: -scores[place])
    judged = [
        _with_share(best[place], WEIGHT * (RRF_K + 1) / (RRF_K + rank))
        for rank, place in enumerate(order, start=1)
    ]
    return [*sorted(judged, key=lambda hit: -hit.score), *rest]


def _shown(hit: Hit) -> str:
    return f"{hit.chunk.path}\n{hit.chunk.text}"


def _with_share(hit: Hit, share: float) -> Hit:
    return replace(hit, score=hit.score + share, shares={**hit.shares, "rerank": share})
