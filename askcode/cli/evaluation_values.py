"""Turn evaluations into lines of text and the JSON object of `eval --json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from askcode.cli.json_values import JSON_VERSION, JsonObject, usage_json
from askcode.cli.rendering import counted
from askcode.terminal_text import escape_line

if TYPE_CHECKING:
    from askcode.comparing import Change, Comparison
    from askcode.evaluating import Judged, Totals

_DIGITS = 6
_LABELS = {"recall": "recall", "ndcg": "NDCG", "reciprocal_rank": "MRR", "first": "hit@1"}


def eval_json(judged: Sequence[Judged], comparison: Comparison | None, *, k: int) -> JsonObject:
    """Return the object of `eval --json`."""
    from askcode.comparing import run_row
    from askcode.evaluating import total

    totals = total(judged)
    score = totals.score
    return {
        "version": JSON_VERSION,
        "questions": totals.questions,
        "k": k,
        "recall": round(score.recall, _DIGITS),
        "mrr": round(score.reciprocal_rank, _DIGITS),
        "ndcg": round(score.ndcg, _DIGITS),
        "hit_at_1": round(score.first, _DIGITS),
        "answers": _answers_json(totals, judged),
        "comparison": None if comparison is None else _comparison_json(comparison),
        "rows": [run_row(one, k=k) for one in judged],
    }


def eval_lines(judged: Sequence[Judged], comparison: Comparison | None, *, k: int) -> list[str]:
    """Return the totals, what the answers were worth, and what won and lost."""
    from askcode.evaluating import total

    totals = total(judged)
    score = totals.score
    rows = [
        ("questions", f"{totals.questions:,}"),
        (f"recall@{k}", f"{score.recall:.3f}"),
        ("MRR", f"{score.reciprocal_rank:.3f}"),
        (f"NDCG@{k}", f"{score.ndcg:.3f}"),
        ("hit@1", f"{score.first:.3f}"),
    ]
    if _has_answers(judged):
        held = f"{totals.valid_citations} of {totals.citations}"
        rows += [
            ("answers", f"{totals.answered:,}"),
            ("citations valid", held),
            ("expected cited", f"{totals.expected_cited:.3f}"),
        ]
    lines = [f"{name + ':':<17}{value}" for name, value in rows]
    return lines if comparison is None else [*lines, "", *_comparison_lines(comparison)]


def _has_answers(judged: Sequence[Judged]) -> bool:
    return any(one.answer_score or one.error for one in judged)


def _answers_json(totals: Totals, judged: Sequence[Judged]) -> JsonObject | None:
    if not _has_answers(judged):
        return None
    validity = totals.citation_validity
    return {
        "answered": totals.answered,
        "failed": sum(bool(one.error) for one in judged),
        "citations": totals.citations,
        "valid_citations": totals.valid_citations,
        "citation_validity": None if validity is None else round(validity, _DIGITS),
        "expected_cited": round(totals.expected_cited, _DIGITS),
        "usage": usage_json(totals.usage),
    }


def _comparison_json(comparison: Comparison) -> JsonObject:
    return {
        "common": comparison.common,
        "only_before": comparison.only_before,
        "only_now": comparison.only_now,
        "differences": [asdict(one) for one in comparison.differences],
        "wins": [asdict(one) for one in comparison.wins],
        "losses": [asdict(one) for one in comparison.losses],
    }


def _comparison_lines(comparison: Comparison) -> list[str]:
    ties = comparison.common - len(comparison.wins) - len(comparison.losses)
    lines = [
        f"{counted(comparison.common, 'question')} in both runs: {len(comparison.wins):,} better, "
        f"{len(comparison.losses):,} worse, {ties:,} the same",
    ]
    if comparison.only_before or comparison.only_now:
        lines.append(f"only before: {comparison.only_before:,}, only now: {comparison.only_now:,}")
    lines.append(f"{'':17}before  now    difference [95 %]")
    for one in comparison.differences:
        change = one.now - one.before
        lines.append(
            f"{_LABELS[one.metric]:<17}{one.before:.3f}   {one.now:.3f}  {change:+.3f} "
            f"[{one.low:+.3f}, {one.high:+.3f}]"
        )
    lines += _changes("better", comparison.wins)
    return lines + _changes("worse", comparison.losses)


def _changes(title: str, changes: Sequence[Change]) -> list[str]:
    if not changes:
        return []
    told = [f"  {one.before:.3f} -> {one.now:.3f}  {escape_line(one.question)}" for one in changes]
    return [f"{title} by NDCG:", *told]
