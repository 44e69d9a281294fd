"""Score ranked files against the files that are known to answer a question."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Score:
    """How well one question was answered; every value in [0, 1], higher is better."""

    ndcg: float
    recall: float
    reciprocal_rank: float
    first: float


def score_files(ranked: Iterable[str], relevant: Iterable[str], *, depth: int = DEPTH) -> Score:
    """Score distinct files in rank order, each relevant one counting the same.

    NDCG (as in Järvelin and Kekäläinen 2002) and recall are cut at so many files, the
    reciprocal rank is not.
    """
    wanted = set(relevant)
    places = [i for i, path in enumerate(dict.fromkeys(ranked)) if path in wanted]
    near = [place for place in places if place < depth]
    gained = sum(1 / math.log2(place + 2) for place in near)
    possible = sum(1 / math.log2(place + 2) for place in range(min(depth, len(wanted))))
    return Score(
        ndcg=gained / possible,
        recall=len(near) / len(wanted),
        reciprocal_rank=1 / (places[0] + 1) if places else 0.0,
        first=float(places[:1] == [0]),
    )


def mean(values: Sequence[float]) -> float:
    """Return the mean, or nan of nothing."""
    return sum(values) / len(values) if values else math.nan


def interval(values: Sequence[float], *, draws: int = 1000, seed: int = 1) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    chance = random.Random(seed)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(draws))
    return means[int(0.025 * draws)], means[int(0.975 * draws) - 1]
