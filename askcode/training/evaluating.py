"""Measure the model on pairs that it was not trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from askcode.training.composing import pooled
from askcode.training.encoding import ASKED, Floats, Tokens
from askcode.training.exporting import quantised

CANDIDATES = 1000


def evaluate(model: Path, vectors_file: Path, tokens: Tokens) -> dict[str, float]:
    """Return how well held-out texts find their code among a thousand, and the model's size."""
    vectors = np.load(vectors_file)
    rows, scales = quantised(vectors)
    dim = vectors.shape[1]
    figures = {
        "float32_rank": reciprocal_rank(vectors, tokens),
        "float16_rank": reciprocal_rank(vectors.astype(np.float16).astype(np.float32), tokens),
        "int8_rank": reciprocal_rank(rows.astype(np.float32) * scales, tokens),
        "megabytes": sum(path.stat().st_size for path in model.iterdir()) / 1e6,
    }
    for first in (dim // 2, dim // 4):
        figures[f"first_{first}_rank"] = reciprocal_rank(vectors[:, :first], tokens)
    return {name: round(value, 4) for name, value in figures.items()}


def reciprocal_rank(vectors: Floats, tokens: Tokens) -> float:
    """Return the mean reciprocal rank of held-out texts' own code among a thousand codes."""
    ranks: list[float] = []
    for begin in range(len(tokens) - tokens.held_out, len(tokens), CANDIDATES):
        places = np.arange(begin, min(begin + CANDIDATES, len(tokens)))
        likeness = (
            pooled(vectors, tokens, ASKED[0], places) @ pooled(vectors, tokens, "code", places).T
        )
        own = np.diag(likeness)[:, None]
        ranks += list(1 / (1 + (likeness > own).sum(axis=1)))
    return float(np.mean(ranks)) if ranks else 0.0
