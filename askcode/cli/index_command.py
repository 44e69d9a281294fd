"""askcode index: bring an index up to date, or say what that would do and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from askcode.cli import options, rendering
from askcode.cli.confirming import confirm_calls
from askcode.cli.failing import EXIT_INTERRUPTED, EXIT_TERMINATED, Terminated
from askcode.cli.output import note, print_json, print_lines
from askcode.cli.progress import showing_progress
from askcode.errors import CheckFailed, IndexIncomplete, Interrupted, UsageError
from askcode.records import IndexPlan, IndexReport
from askcode.setting_values import parse_size
from askcode.settings import Settings, load_settings

if TYPE_CHECKING:
    from askcode.indexing import Progress, Survey
    from askcode.many_sessions import Members
    from askcode.sessions import IndexWanted


class Engines(StrEnum):
    """Who chunks, describes and embeds."""

    LOCAL = "local"
    RAY = "ray"


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise typer.BadParameter(f"it {error}") from error


def index(
    paths: options.Roots = None,
    repos: options.RepositoryList = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would happen and cost; make no call.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit 7 when the index is stale; change nothing.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the index anew; paid questions are reused.")
    ] = False,
    no_llm: options.NoLlm = False,
    questions: Annotated[
        int | None,
        typer.Option("--questions", metavar="N", help="Questions per chunk. [default: 3]"),
    ] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata",
            metavar="KIND",
            help="questions, summary, title, keywords or outline; may be given again.",
        ),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", metavar="N", min=0, help="Stop after N LLM calls.")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", min=0, help="Stop after N LLM tokens."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before many LLM calls.")
    ] = False,
    concurrency: Annotated[
        int | None,
        typer.Option("--concurrency", metavar="N", help="Most LLM calls at a time. [default: 8]"),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include", metavar="GLOB", help="Take files that are left out by default, too."
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="GLOB", help="Leave these files out.")
    ] = None,
    submodules: Annotated[
        bool | None,
        typer.Option(
            "--submodules/--no-submodules", help="Take in submodules and nested repositories."
        ),
    ] = None,
    allow_secrets: Annotated[
        bool,
        typer.Option("--allow-secrets", help="Let --include take files that look like secrets."),
    ] = False,
    max_file_size: Annotated[
        int | None,
        typer.Option(
            "--max-file-size", metavar="SIZE", parser=_size, help="Such as 500k. [default: 1 MB]"
        ),
    ] = None,
    embed_model: options.EmbedModel = None,
    llm_model: options.LlmModel = None,
    provider: options.Provider = None,
    index_dir: options.IndexDir = None,
    timeout: options.Timeout = None,
    wait: options.Wait = False,
    engine: Annotated[
        Engines, typer.Option("--engine", help="Who does the work: this process, or a Ray cluster.")
    ] = Engines.LOCAL,
    ray_address: Annotated[
        str | None,
        typer.Option(
            "--ray-address",
            metavar="HOST:PORT",
            help="The Ray cluster to join, or auto. [default: one on this machine]",
        ),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Bring the index of a code base up to date, or of several."""
    if ray_address and engine is not Engines.RAY:
        raise UsageError("--ray-address is for the engine ray", hint="add --engine ray")
    roots = [options.existing_root(path) for path in paths or ()]
    root = roots[0] if len(roots) == 1 else options.existing_root(Path())
    flags = {
        "questions_per_chunk": questions,
        "metadata": options.flag_values(metadata),
        "concurrency": concurrency,
        "include": options.flag_values(include),
        "exclude": options.flag_values(exclude),
        "submodules": submodules,
        "max_file_size": max_file_size,
        "embed_model": embed_model,
        "llm_model": llm_model,
        "provider": provider,
        "index_dir": index_dir,
        "timeout_s": timeout,
    }
    settings = load_settings(root, flags)
    from askcode.describing import Budget
    from askcode.sessions import IndexWanted

    members = _members(settings, roots, repos, flags, whole=rebuild)
    wanted = IndexWanted(
        use_llm=not no_llm,
        allow_secrets=allow_secrets,
        budget=Budget(max_calls, max_tokens),
        rebuild=rebuild,
        wait=wait,
        members=members.wanted,
        engine=engine.value,
        ray_address=ray_address,
    )
    view = _View(settings, wanted, as_json=as_json, quiet=quiet, verbose=verbose, yes=yes)
    for warning in members.notes if members.wanted else settings.warnings:
        view.say(warning)
    if check:
        view.check(root)
    elif dry_run:
        view.dry_run(root)
    else:
        view.run(root)


def _members(
    settings: Settings,
    roots: Sequence[Path],
    repos: Path | None,
    flags: Mapping[str, object],
    *,
    whole: bool,
) -> Members:
    from askcode.many_sessions import choose_members
    from askcode.repositories import read_list

    return choose_members(
        settings,
        roots,
        {} if repos is None else read_list(repos),
        settings_of=lambda root: load_settings(root, flags),
        whole=whole,
    )


class _View:
    """One call of the command: what was asked for, and how it is told."""

    def __init__(
        self,
        settings: Settings,
        wanted: IndexWanted,
        *,
        as_json: bool,
        quiet: bool,
        verbose: bool,
        yes: bool,
    ) -> None:
        self.settings = settings
        self.wanted = wanted
        self.as_json = as_json
        self.quiet = quiet
        self.verbose = verbose
        self.yes = yes

    def say(self, text: str) -> None:
        """Tell something on stderr, unless told to be quiet."""
        if not self.quiet:
            note(text)

    def check(self, root: Path) -> None:
        """Exit 7 when the files differ from the index."""
        from askcode.sessions import look

        survey = look(self.settings, root, self.wanted, must_exist=True).indexer.survey()
        plan = IndexPlan(survey.files, survey.removed, 0, estimate=rendering.NO_ESTIMATE)
        if self.as_json:
            print_json(rendering.plan_json(plan))
        if survey.is_stale:
            raise CheckFailed(
                f"the index is stale: {rendering.freshness_text(survey)}",
                hint="run `askcode index`",
            )
        self.say("the index is up to date")

    def dry_run(self, root: Path) -> None:
        """Print what a run would do and what it would ask of the language model."""
        from askcode.sessions import look

        seen = look(self.settings, root, self.wanted, must_exist=False)
        survey = seen.indexer.survey()
        plan = seen.indexer.plan(survey)
        for warning in (*seen.notes, *survey.warnings):
            self.say(warning)
        if self.as_json:
            print_json(rendering.plan_json(plan))
        else:
            print_lines(rendering.plan_lines(plan, self._prices(), verbose=self.verbose))

    def run(self, root: Path) -> None:
        """Index, and print what was done."""
        from askcode.sessions import indexing

        with _Kept() as kept, indexing(self.settings, root, self.wanted) as session:
            for text in session.notes:
                self.say(text)
            survey = kept.survey = session.indexer.survey()
            if session.pays and survey.changed:
                self._announce(session.indexer.plan(survey))
            with showing_progress(
                total_files=len(survey.changed), spent=session.spent, is_quiet=self.quiet
            ) as show:
                report = session.indexer.run(survey, on_progress=kept.track(show))
            session.keep(report)
        self._tell(report, survey)

    def _announce(self, plan: IndexPlan) -> None:
        self.say(rendering.estimate_line(plan, self._prices()))
        limits = (self.wanted.budget.max_calls, self.wanted.budget.max_tokens)
        if self.yes or any(limit is not None for limit in limits):
            return
        confirm_calls(
            plan.estimate.calls,
            hint="confirm with --yes, limit it with --max-calls, or look with --dry-run",
            otherwise="index without questions: --no-llm",
        )

    def _prices(self) -> rendering.Prices:
        return rendering.Prices(self.settings.input_price, self.settings.output_price)

    def _tell(self, report: IndexReport, survey: Survey) -> None:
        if self.as_json:
            print_json(rendering.report_json(report))
        for text in report.notes:
            self.say(text)
        if not self.quiet:
            lines = rendering.reading_lines(survey) if self.verbose else []
            lines += rendering.report_lines(report, verbose=self.verbose)
            print_lines(lines, to_stderr=self.as_json)
        if not survey.changed and not survey.unchanged:
            found = f": {survey.considered} were found, 0 are to be indexed"
            self.say(f"no files to index{found if survey.considered else ''}")
        if report.stopped:
            raise IndexIncomplete(
                report.stopped, hint="what was done is kept; run again to continue"
            )
        if report.failed:
            raise IndexIncomplete(
                f"chunks of {rendering.counted(len(report.failed), 'file')} lack metadata: "
                f"{report.failed[0].error}",
                hint="the next run tries them again",
            )


class _Kept:
    """Turn a signal into a message that says how much of the run was kept."""

    def __init__(self) -> None:
        self.survey: Survey | None = None
        self._stored = 0

    def __enter__(self) -> _Kept:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, KeyboardInterrupt):
            return
        is_terminated = isinstance(error, Terminated)
        raise Interrupted(
            f"{'terminated' if is_terminated else 'interrupted'}; {self._told()}",
            exit_code=EXIT_TERMINATED if is_terminated else EXIT_INTERRUPTED,
            hint="run again to continue",
        ) from error

    def track(self, show: rendering.OnProgress) -> rendering.OnProgress:
        """Return a receiver of progress that takes note of it, then shows it."""

        def both(step: Progress) -> None:
            self._stored = step.stored
            show(step)

        return both

    def _told(self) -> str:
        if self.survey is None:
            return "nothing was changed"
        done = self.survey.unchanged + self._stored
        return f"{done} of {self.survey.unchanged + len(self.survey.changed)} files are indexed"
