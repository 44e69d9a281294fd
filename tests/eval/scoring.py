"""Score ranked files against the files that are known to answer a question."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Score:
    """How well one question was answered; every value in [0, 1], higher is better."""

    ndcg: float
    recall: float
    reciprocal_rank: float
    first: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A score with what it is grouped by."""

    source: str
    category: str
    repo: str
    score: Score


def score_files(ranked: Iterable[str], relevant: Iterable[str]) -> Score:
    """Score distinct files in rank order, each relevant one counting the same.

    NDCG as in Järvelin and Kekäläinen 2002, cut at ten files.
    """
    wanted = set(relevant)
    places = [i for i, path in enumerate(dict.fromkeys(ranked)) if path in wanted]
    near = [place for place in places if place < DEPTH]
    gained = sum(1 / math.log2(place + 2) for place in near)
    possible = sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(wanted))))
    return Score(
        ndcg=gained / possible,
        recall=len(near) / len(wanted),
        reciprocal_rank=1 / (places[0] + 1) if places else 0.0,
        first=float(places[:1] == [0]),
    )


def mean(values: Sequence[float]) -> float:
    """Return the mean, or nan of nothing."""
    return sum(values) / len(values) if values else math.nan


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of all stay below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan


def interval(values: Sequence[float], *, draws: int = 1000, seed: int = 1) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    chance = random.Random(seed)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(draws))
    return means[int(0.025 * draws)], means[int(0.975 * draws) - 1]


def table(scored: Sequence[Scored]) -> list[str]:
    """Return the lines of a table: all, then by source, category and repository."""
    lines = [f"{'':24} {'n':>4}  NDCG@10  [95 %]          recall@10  MRR    hit@1"]
    lines.append(_line("all", [one.score for one in scored]))
    groups: tuple[Callable[[Scored], str], ...] = (
        lambda one: one.source,
        lambda one: one.category,
        lambda one: one.repo,
    )
    for group in groups:
        lines.append("")
        by_name = defaultdict(list)
        for one in scored:
            by_name[group(one)].append(one.score)
        lines += [_line(name, scores) for name, scores in sorted(by_name.items())]
    return lines


def _line(name: str, scores: Sequence[Score]) -> str:
    gains = [score.ndcg for score in scores]
    low, high = interval(gains)
    return (
        f"{name:24} {len(scores):4}  {mean(gains):.3f}    [{low:.3f}, {high:.3f}]  "
        f"{mean([score.recall for score in scores]):.3f}      "
        f"{mean([score.reciprocal_rank for score in scores]):.3f}  "
        f"{mean([score.first for score in scores]):.3f}"
    )
