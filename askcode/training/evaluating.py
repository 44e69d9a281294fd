"""Measure the model on pairs that it was not trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from askcode.training.encoding import Bags, Tokens
from askcode.training.exporting import quantised

CANDIDATES = 1000

Floats = npt.NDArray[np.float32]


def evaluate(model: Path, vectors_file: Path, tokens: Tokens) -> dict[str, float]:
    """Return how well held-out texts find their code among a thousand, and the model's size."""
    vectors = np.load(vectors_file)
    rows, scales = quantised(vectors)
    figures = {
        "float32_rank": reciprocal_rank(vectors, tokens),
        "int8_rank": reciprocal_rank(rows.astype(np.float32) * scales, tokens),
        "megabytes": sum(path.stat().st_size for path in model.iterdir()) / 1e6,
    }
    for dim in (vectors.shape[1] // 2, vectors.shape[1] // 4):
        figures[f"first_{dim}_rank"] = reciprocal_rank(vectors[:, :dim], tokens)
    return {name: round(value, 4) for name, value in figures.items()}


def reciprocal_rank(vectors: Floats, tokens: Tokens) -> float:
    """Return the mean reciprocal rank of held-out texts' own code among a thousand codes."""
    count = len(tokens.texts)
    ranks: list[float] = []
    for begin in range(count - tokens.held_out, count, CANDIDATES):
        places = np.arange(begin, min(begin + CANDIDATES, count))
        texts = pooled(vectors, tokens.texts.pick(places))
        codes = pooled(vectors, tokens.codes.pick(places))
        likeness = texts @ codes.T
        own = np.diag(likeness)[:, None]
        ranks += list(1 / (1 + (likeness > own).sum(axis=1)))
    return float(np.mean(ranks)) if ranks else 0.0


def pooled(vectors: Floats, bags: Bags) -> Floats:
    """Return the mean of each text's vectors, of length one; zeros for a text without tokens."""
    sums = np.zeros((len(bags), vectors.shape[1]), np.float32)
    lengths = np.diff(bags.starts)
    filled = np.flatnonzero(lengths)
    if len(filled):
        sums[filled] = np.add.reduceat(vectors[bags.tokens], bags.starts[filled], axis=0)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(norms > 0, norms, 1)).astype(np.float32)
