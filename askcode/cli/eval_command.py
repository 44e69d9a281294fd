"""askcode eval: how well questions with known answer files are answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from askcode import wiring
from askcode.cli import evaluation_values, options
from askcode.cli.asking_commands import Rerank, located
from askcode.cli.confirming import confirm_calls
from askcode.cli.output import note, print_json, print_lines
from askcode.cli.rendering import counted
from askcode.errors import CheckFailed, IndexIncomplete, UsageError
from askcode.eval_questions import EvalQuestion, read_questions
from askcode.globbing import literal_glob
from askcode.records import Filters, Question, Retrieved
from askcode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from askcode.answered import Answered
    from askcode.comparing import Comparison
    from askcode.evaluating import Judged

OutFile = Path | None


def evaluate(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="The questions, a line each.")],
    path: options.RootOption = Path(),
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", metavar="N", min=1, help="Score the best N files.")
    ] = 10,
    answers: Annotated[
        bool,
        typer.Option("--answers", help="Have the language model answer each question, too."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before many LLM calls.")
    ] = False,
    output: Annotated[
        OutFile, typer.Option("--output", metavar="RUN.jsonl", help="Keep the run, to compare it.")
    ] = None,
    compare: Annotated[
        OutFile, typer.Option("--compare", metavar="RUN.jsonl", help="Compare with a kept run.")
    ] = None,
    ragas: Annotated[
        OutFile, typer.Option("--ragas", metavar="OUT.jsonl", help="Write a dataset for ragas.")
    ] = None,
    min_recall: Annotated[
        float | None,
        typer.Option(
            "--min-recall", metavar="X", min=0, max=1, help="Exit 7 when recall is below X."
        ),
    ] = None,
    rerank: Rerank = None,
    embed_model: options.EmbedModel = None,
    llm_model: options.LlmModel = None,
    provider: options.Provider = None,
    index_dir: options.IndexDir = None,
    timeout: options.Timeout = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Score the index with questions whose answer files are known."""
    from askcode.comparing import compare as compared_with
    from askcode.comparing import read_run
    from askcode.evaluating import total

    questions = read_questions(file)
    before = read_run(compare, k=top_k) if compare else None
    _check_targets(file, compare, output, ragas)
    root, settings = located(
        path,
        {
            "rerank_model": rerank,
            "embed_model": embed_model,
            "llm_model": llm_model,
            "provider": provider,
            "index_dir": index_dir,
            "timeout_s": timeout,
        },
    )
    if answers:
        _announce(settings, len(questions), is_quiet=quiet, is_confirmed=yes)
    index = wiring.open_index(settings, root)
    if not quiet:
        _tell_unknown(index, questions)
    filters = _without(index, (file, compare, output, ragas))
    asked = _judged(index, settings, questions, filters, k=top_k, answers=answers)
    judged = list(_written(asked, top_k, output, ragas))
    totals = total(judged)
    comparison = compared_with(before, judged) if before is not None else None
    _show(judged, comparison, k=top_k, as_json=as_json)
    failed = [one for one in judged if one.error]
    if failed:
        raise IndexIncomplete(
            f"{len(failed)} of {counted(len(judged), 'question')} got no answer: {failed[0].error}",
            hint="ask again, or choose another model with --llm-model",
        )
    if min_recall is not None and totals.score.recall < min_recall:
        raise CheckFailed(
            f"recall@{top_k} is {totals.score.recall:.3f}, below {min_recall:g}",
            hint="--output and --compare show which questions lost",
        )


def _judged(
    index: wiring.OpenIndex,
    settings: Settings,
    questions: list[EvalQuestion],
    filters: Filters,
    *,
    k: int,
    answers: bool,
) -> Iterator[Judged]:
    from askcode.evaluating import CHUNKS_PER_FILE, judge

    retriever = wiring.make_retriever(index, settings)
    own_searches = wiring.make_own_searches()

    def retrieve(text: str) -> Retrieved:
        asked = Question(text, (text, *own_searches(text)), filters)
        return retriever.retrieve(asked, k=k * CHUNKS_PER_FILE)

    answer = _answer(index, settings, filters) if answers else None
    return judge(questions, k=k, retrieve=retrieve, answer=answer)


def _answer(
    index: wiring.OpenIndex, settings: Settings, filters: Filters
) -> Callable[[str], Answered]:
    answerer = wiring.make_answerer(
        index, settings, use_llm=True, subquestions=settings.subquestions, k=settings.top_k
    )
    return lambda text: answerer.answer(Question(text, (text,), filters))


def _announce(settings: Settings, questions: int, *, is_quiet: bool, is_confirmed: bool) -> None:
    """Say what the answers cost at most, and ask where that is much."""
    if settings.endpoint("answer") is None:
        raise UsageError(
            "--answers needs a language model",
            hint="set OPENAI_API_KEY, OPENAI_BASE_URL or ASKCODE_PROVIDER",
        )
    calls = questions * (2 if settings.subquestions else 1)
    if not is_quiet:
        note(
            f"{counted(questions, 'question')}, up to {counted(calls, 'LLM call')} and "
            f"{questions * settings.context_tokens:,} input tokens of excerpts"
        )
    if not is_confirmed:
        confirm_calls(calls, hint="confirm with --yes", otherwise="evaluate without --answers")


def _tell_unknown(index: wiring.OpenIndex, questions: list[EvalQuestion]) -> None:
    """Name expected files that cannot be found, since a typing error looks like a bad score."""
    known = index.store.files()
    unknown = dict.fromkeys(path for one in questions for path in one.paths if path not in known)
    if unknown:
        shown = ", ".join(list(unknown)[:5]) + (", ..." if len(unknown) > 5 else "")
        note(f"expected, but not in the index: {shown}")


def _without(index: wiring.OpenIndex, files: Iterable[OutFile]) -> Filters:
    """Leave the files of the evaluation out: they repeat the questions word by word."""
    inside = [
        one.resolve().relative_to(index.root).as_posix()
        for one in files
        if one and one.resolve().is_relative_to(index.root)
    ]
    # those of other repositories in the index are nobody's question
    return Filters(tuple(f"!/{literal_glob(path)}" for path in inside))


def _check_targets(file: Path, compare: OutFile, output: OutFile, ragas: OutFile) -> None:
    """Refuse to write over what is read."""
    taken = [one.resolve() for one in (file, compare) if one]
    for target in (one for one in (output, ragas) if one):
        if target.resolve() in taken:
            raise UsageError(f"{target} is read and written", hint="choose another file")
        taken.append(target.resolve())


def _written(judged: Iterator[Judged], k: int, output: OutFile, ragas: OutFile) -> Iterator[Judged]:
    """Pass judged questions on, each written as soon as it is there: answers are paid for."""
    from askcode.comparing import ragas_row, run_row

    with ExitStack() as stack:
        run, samples = (
            stack.enter_context(_opened(target)) if target else None for target in (output, ragas)
        )
        for one in judged:
            _write(run, run_row(one, k=k))
            _write(samples, ragas_row(one))
            yield one


@contextmanager
def _opened(target: Path) -> Iterator[TextIO]:
    try:
        file = target.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    with file:
        yield file


def _write(file: TextIO | None, row: Mapping[str, object]) -> None:
    if file is not None:
        file.write(json.dumps(row) + "\n")
        file.flush()


def _show(judged: list[Judged], comparison: Comparison | None, *, k: int, as_json: bool) -> None:
    if as_json:
        print_json(evaluation_values.eval_json(judged, comparison, k=k))
    else:
        print_lines(evaluation_values.eval_lines(judged, comparison, k=k))
