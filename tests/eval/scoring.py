"""Show scores in a table, by what the questions are grouped by."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from askcode.scoring import Score, interval, mean


@dataclass(frozen=True, slots=True)
class Scored:
    """A score with what it is grouped by."""

    source: str
    category: str
    repo: str
    score: Score


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of all stay below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan


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
