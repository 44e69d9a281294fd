"""Keep evaluation runs, and compare two of them question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askcode.errors import UsageError
from askcode.eval_questions import read_rows
from askcode.evaluating import Judged
from askcode.scoring import interval, mean

METRICS = ("recall", "ndcg", "reciprocal_rank", "first")

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric in both runs, over the questions that both have."""

    metric: str
    before: float
    now: float
    low: float
    """Of the 95 % interval of the mean difference, by paired bootstrap."""
    high: float


@dataclass(frozen=True, slots=True)
class Change:
    """A question that is answered better or worse, by NDCG."""

    question: str
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a run differs from an earlier one."""

    common: int
    only_before: int
    only_now: int
    differences: tuple[Difference, ...]
    wins: tuple[Change, ...]
    losses: tuple[Change, ...]


def run_row(judged: Judged, *, k: int) -> Row:
    """Return what a run keeps of a question."""
    score = judged.score
    row: Row = {
        "question": judged.question.text,
        "paths": list(judged.question.paths),
        "k": k,
        "ranked": list(judged.ranked),
        "recall": score.recall,
        "ndcg": score.ndcg,
        "reciprocal_rank": score.reciprocal_rank,
        "first": score.first,
    }
    if judged.answer and judged.answer_score:
        row |= {
            "answer": judged.answer.text,
            "citations": judged.answer_score.citations,
            "valid_citations": judged.answer_score.valid_citations,
            "expected_cited": judged.answer_score.expected_cited,
        }
    if judged.error:
        row["error"] = judged.error
    return row


def ragas_row(judged: Judged) -> Row:
    """Return a question as a single-turn sample of the ragas package.

    Source: the fields of ragas.SingleTurnSample, 0.2 to 0.4.
    """
    question, answer = judged.question, judged.answer
    row: Row = {
        "user_input": question.text,
        "retrieved_contexts": list(judged.contexts),
        "retrieved_context_ids": list(judged.ranked),
        "reference_context_ids": list(question.paths),
    }
    if answer and answer.text:
        row["response"] = answer.text
    if question.reference:
        row["reference"] = question.reference
    return row


def read_run(path: Path, *, k: int) -> dict[str, dict[str, float]]:
    """Read a run that was kept: metrics by question.

    Raises:
        UsageError: it cannot be read, or was scored at another k.
    """
    run: dict[str, dict[str, float]] = {}
    for number, row in read_rows(path):
        question = row.get("question")
        if not isinstance(question, str) or not all(_is_share(row.get(name)) for name in METRICS):
            raise UsageError(
                f"{path}:{number}: this is no row of a run", hint="keep a run with --output"
            )
        if row.get("k") != k:
            raise UsageError(
                f"{path}:{number}: this run was scored at {row.get('k')} files, not at {k}",
                hint=f"use --top-k {row.get('k')}",
            )
        run[question] = _metrics(row)
    return run


def compare(before: Mapping[str, Mapping[str, float]], judged: Sequence[Judged]) -> Comparison:
    """Compare a run with an earlier one, over the questions that both have.

    Raises:
        UsageError: they have none in common.
    """
    now = {one.question.text: _metrics(run_row(one, k=0)) for one in judged}
    common = [question for question in now if question in before]
    if not common:
        raise UsageError("the two runs have no question in common")
    changes = [Change(text, before[text]["ndcg"], now[text]["ndcg"]) for text in common]
    return Comparison(
        len(common),
        len(before) - len(common),
        len(now) - len(common),
        tuple(_difference(name, common, before, now) for name in METRICS),
        tuple(one for one in changes if one.now > one.before),
        tuple(one for one in changes if one.now < one.before),
    )


def _difference(
    metric: str,
    questions: Sequence[str],
    before: Mapping[str, Mapping[str, float]],
    now: Mapping[str, Mapping[str, float]],
) -> Difference:
    old = [before[question][metric] for question in questions]
    new = [now[question][metric] for question in questions]
    low, high = interval([n - o for n, o in zip(new, old, strict=True)])
    return Difference(metric, mean(old), mean(new), low, high)


def _metrics(row: Mapping[str, object]) -> dict[str, float]:
    return {name: float(str(row[name])) for name in METRICS}


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
