"""askcode ask and askcode search: what the index says to a question."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from askcode import wiring
from askcode.asking import clean_question
from askcode.choosing_repositories import check_names
from askcode.cli import options, rendering
from askcode.cli.linking import print_linked
from askcode.cli.output import note, open_console, print_json
from askcode.cli.showing import AnswerShow, tell_stale
from askcode.errors import CheckFailed, UsageError
from askcode.languages import language_of
from askcode.records import Filters, Question
from askcode.retrieving import MODES
from askcode.settings import Settings, load_settings

# Bytes of a question from stdin that are read at all; asking.MAX_CHARACTERS cuts further.
MAX_STDIN_CHARACTERS = 4_000_000

QuestionText = Annotated[
    str, typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")
]
TopK = Annotated[
    int | None, typer.Option("--top-k", "-k", metavar="N", min=1, help="How many chunks to use.")
]
Rerank = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="MODEL",
        help="Rerank with a cross-encoder: a fastembed name or a folder. "
        "[env: ASKCODE_RERANK_MODEL]",
    ),
]


def ask(
    question: QuestionText,
    path: options.RootOption = Path(),
    top_k: TopK = None,
    path_glob: options.PathGlobs = None,
    repo: options.RepositoryGlobs = None,
    lang: options.Languages = None,
    no_llm: options.NoLlm = False,
    no_subquestions: Annotated[
        bool, typer.Option("--no-subquestions", help="Search with the question alone.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 7 when a citation does not hold.")
    ] = False,
    no_stream: Annotated[
        bool, typer.Option("--no-stream", help="Print the answer when it is whole and checked.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what was searched, found, sent and left out.")
    ] = False,
    follow_up: Annotated[
        bool, typer.Option("--follow-up", "-c", help="Continue the last conversation.")
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print Markdown as it is, on a terminal too.")
    ] = False,
    rerank: Rerank = None,
    embed_model: options.EmbedModel = None,
    llm_model: options.LlmModel = None,
    provider: options.Provider = None,
    index_dir: options.IndexDir = None,
    timeout: options.Timeout = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Answer a question about the code, with citations."""
    text = _question_text(question, quiet=quiet)
    root, settings = located(
        path,
        {
            "top_k": top_k,
            "rerank_model": rerank,
            "embed_model": embed_model,
            "llm_model": llm_model,
            "provider": provider,
            "index_dir": index_dir,
            "timeout_s": timeout,
        },
    )
    index = wiring.open_index(settings, root)
    answerer = wiring.make_answerer(
        index,
        settings,
        use_llm=not no_llm,
        subquestions=None if no_subquestions else settings.subquestions,
        k=settings.top_k,
    )
    filters = _filters(index, repo, path_glob, lang)
    show = AnswerShow(
        index.roots,
        answerer,
        wiring.make_history(settings, root),
        as_json=as_json,
        quiet=quiet,
        explain=explain,
        is_streamed=not (no_stream or as_json),
        is_plain=plain,
    )
    asked = Question(text, (text,), filters)
    failure = show.ask(asked, follow_up=follow_up)
    if strict and failure:
        raise CheckFailed(failure, hint="the answer above is not to be trusted as it stands")


def search(
    query: QuestionText,
    path: options.RootOption = Path(),
    top_k: TopK = 10,
    path_glob: options.PathGlobs = None,
    repo: options.RepositoryGlobs = None,
    lang: options.Languages = None,
    mode: Annotated[
        str, typer.Option("--mode", metavar="MODE", help="hybrid, vector or text.")
    ] = "hybrid",
    explain: Annotated[
        bool, typer.Option("--explain", help="Say how each hit got its score.")
    ] = False,
    rerank: Rerank = None,
    embed_model: options.EmbedModel = None,
    index_dir: options.IndexDir = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the chunks that fit best; no language model is used."""
    if mode not in MODES:
        raise UsageError(f"there is no mode {mode!r}", hint=f"use one of {', '.join(MODES)}")
    text = _question_text(query, quiet=quiet)
    root, settings = located(
        path, {"rerank_model": rerank, "embed_model": embed_model, "index_dir": index_dir}
    )
    index = wiring.open_index(settings, root)
    searches = (text, *wiring.make_own_searches()(text))
    asked = Question(text, searches, _filters(index, repo, path_glob, lang))
    found = wiring.make_retriever(index, settings).retrieve(asked, k=top_k or 10, mode=mode)
    if not quiet:
        for warning in found.warnings:
            note(warning)
        tell_stale(found)
    if as_json:
        print_json(rendering.search_json(found))
    else:
        print_linked(
            open_console(),
            rendering.hit_lines(found, explain=explain),
            roots=index.roots,
            paths=[hit.chunk.path for hit in found.hits],
        )


def _question_text(given: str, *, quiet: bool) -> str:
    if given == "-":
        given = sys.stdin.buffer.read(MAX_STDIN_CHARACTERS).decode("utf-8", "replace")
    cleaned = clean_question(given)
    if cleaned.warning and not quiet:
        note(cleaned.warning)
    return cleaned.text


def located(path: Path, flags: dict[str, object]) -> tuple[Path, Settings]:
    """Return the root with an index at or above path, and its settings."""
    start = options.existing_root(path)
    root = wiring.find_root(start, load_settings(start, flags))
    return root, load_settings(root, flags)


def _filters(
    index: wiring.OpenIndex,
    repositories: list[str] | None,
    globs: list[str] | None,
    languages: list[str] | None,
) -> Filters:
    names = tuple(repositories or ())
    if names:
        check_names(names, index.repositories)
    return Filters(
        tuple(globs or ()), tuple(language_name(name) for name in languages or ()), names
    )


def language_name(name: str) -> str:
    """Return a language's own name for a usual short one: `py`, `ts`, `c++`."""
    short = name.strip().lower().replace("c++", "cpp").replace("c#", "cs").lstrip(".")
    return language_of(f"file.{short}") or short
