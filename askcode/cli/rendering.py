"""Turn results into lines of text; whoever prints them escapes control characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from askcode.citing import summarize
from askcode.cli.json_values import JSON_VERSION as JSON_VERSION
from askcode.cli.json_values import RepositoryStatus as RepositoryStatus
from askcode.cli.json_values import ShownSetting as ShownSetting
from askcode.cli.json_values import Status as Status
from askcode.cli.json_values import answer_json as answer_json
from askcode.cli.json_values import history_json as history_json
from askcode.cli.json_values import plan_json as plan_json
from askcode.cli.json_values import report_json as report_json
from askcode.cli.json_values import search_json as search_json
from askcode.cli.json_values import status_json as status_json
from askcode.records import (
    Answer,
    Citation,
    Estimate,
    FilePlan,
    Hit,
    IndexPlan,
    IndexReport,
    Retrieved,
)
from askcode.terminal_text import escape_line

if TYPE_CHECKING:
    from askcode.history import Entry
    from askcode.indexing import Progress, Survey
    from askcode.own_steps import OwnStep
    from askcode.packing import Packed

OnProgress = Callable[["Progress"], None]
Tracker = Callable[[OnProgress], OnProgress]

NO_ESTIMATE = Estimate()
# Enough to recognise a place; the rest is one click or one `sed -n` away.
SEARCH_LINES = 8
EXCERPT_LINES = 40
# With no model to read them for the user, more excerpts than these are a flood.
SHOWN_EXCERPTS = 5
NOTHING_FOUND = "not found in the indexed code"
_TOKENS_PER_PRICE = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Money per million tokens, None where it is not configured."""

    input: float | None = None
    output: float | None = None

    def cost(self, estimate: Estimate) -> float | None:
        """Return what an estimate comes to, None without both prices."""
        if self.input is None or self.output is None:
            return None
        paid = self.input * estimate.input_tokens + self.output * estimate.output_tokens
        return paid / _TOKENS_PER_PRICE


def estimate_line(plan: IndexPlan, prices: Prices) -> str:
    """Return files, chunks, calls and tokens of a plan, with money where prices are known."""
    estimate = plan.estimate
    files = sum(file.decision == "index" for file in plan.files)
    parts = [
        counted(files, "file") + " to index",
        counted(plan.chunks, "chunk"),
        counted(estimate.calls, "LLM call"),
        f"{estimate.input_tokens:,} input and {estimate.output_tokens:,} output tokens",
    ]
    if estimate.reused:
        parts.append(f"{estimate.reused:,} chunks reused")
    cost = prices.cost(estimate)
    return ", ".join(parts) + (f", cost {cost:,.4f}" if cost is not None else "")


def plan_lines(plan: IndexPlan, prices: Prices, *, verbose: bool) -> list[str]:
    """Return what a run would do, each left-out file with its reason; unchanged if verbose."""
    lines = [
        f"{_DECISIONS[file.decision]:<10}{escape_line(file.path)}{_remark(file, verbose=verbose)}"
        for file in plan.files
        if verbose or file.decision != "unchanged"
    ]
    lines += [f"{'remove':<10}{escape_line(path)}" for path in plan.removed]
    unchanged = sum(file.decision == "unchanged" for file in plan.files)
    skipped = sum(file.decision == "skip" for file in plan.files)
    lines.append(
        f"{counted(unchanged, 'file')} unchanged, {skipped:,} left out, "
        f"{len(plan.removed):,} to remove"
    )
    return [*lines, estimate_line(plan, prices)]


_DECISIONS = {"index": "index", "unchanged": "unchanged", "skip": "leave out"}


def _remark(file: FilePlan, *, verbose: bool) -> str:
    told = [file.reason, file.note if verbose else ""]
    return f"  ({', '.join(filter(None, told))})" if any(told) else ""


def reading_lines(survey: Survey) -> list[str]:
    """Return the files that are no clean text of one encoding, and how they were read."""
    return [f"read: {escape_line(file.path)} ({file.note})" for file in survey.files if file.note]


def report_lines(report: IndexReport, *, verbose: bool) -> list[str]:
    """Return what a run did; each left-out file if verbose."""
    lines = [
        f"{counted(report.indexed, 'file')} indexed, {report.unchanged:,} unchanged, "
        f"{report.removed:,} removed, {len(report.skipped):,} left out",
        f"{counted(report.chunks_written, 'chunk')} written, {report.chunks_total:,} in the index",
        *_llm_lines(report),
        *_skipped_lines(report, verbose=verbose),
    ]
    lines += [f"failed: {escape_line(file.path)}: {file.error}" for file in report.failed]
    return [*lines, f"done in {report.seconds:.1f} s"]


def _llm_lines(report: IndexReport) -> list[str]:
    lines = []
    if report.usage.calls or report.reused:
        lines.append(
            f"{counted(report.usage.calls, 'LLM call')}, {report.usage.input_tokens:,} input and "
            f"{report.usage.output_tokens:,} output tokens, {report.reused:,} chunks reused"
        )
    if report.masked_secrets:
        masked = counted(report.masked_secrets, "secret")
        lines.append(f"{masked} masked before leaving this machine")
    return lines


def _skipped_lines(report: IndexReport, *, verbose: bool) -> list[str]:
    reasons = Counter(left.reason for left in report.skipped)
    if verbose:
        lines = [
            f"left out: {escape_line(left.path)} ({left.reason}"
            + (f": {left.detail})" if left.detail else ")")
            for left in report.skipped
        ]
    else:
        told = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
        lines = [f"left out: {told} (each by name: --verbose)"] if told else []
    nested = reasons["submodule"] + reasons["nested repository"]
    if nested:
        noun = "repository" if nested == 1 else "repositories"
        lines.append(f"{nested:,} {noun} inside this one left out (--submodules)")
    return lines


def freshness_text(survey: Survey) -> str:
    """Return how many files are new, changed and gone since the index was made."""
    reasons = Counter(file.reason for file in survey.files if file.decision == "index")
    counts = (("new", reasons["new"]), ("changed", reasons["changed"]))
    return _freshness([*counts, ("deleted", len(survey.removed))])


def _freshness(counts: Iterable[tuple[str, int]]) -> str:
    told = [f"{count:,} {word}" for word, count in counts if count]
    return ", ".join(told) + " since it was made" if told else "up to date"


def status_lines(status: Status) -> list[str]:
    """Return what is indexed, how fresh it is, what it cost and every setting."""
    languages = sorted(status.languages.items(), key=lambda item: (-item[1], item[0]))
    counts = (("new", status.new), ("changed", status.changed), ("deleted", status.deleted))
    spent = status.spent
    rows = [
        ("root", escape_line(status.root)),
        ("index", f"{escape_line(status.index_dir)} ({status.bytes / 1024**2:.1f} MB)"),
        ("files", f"{status.files:,}"),
        ("chunks", f"{status.chunks:,}"),
        ("languages", ", ".join(f"{name} {count:,}" for name, count in languages) or "none"),
        ("questions", f"{status.questions:,}"),
        ("metadata", ", ".join(status.metadata) or "none"),
        ("embedding", f"{status.embedder.name} ({status.embedder.dim} dimensions)"),
        ("LLM", ", ".join(f"{stage} {name}" for stage, name in status.models.items()) or "none"),
        ("freshness", _freshness(counts)),
        ("own steps", ", ".join(map(_step, status.steps)) or "none"),
        (
            "spent",
            f"{counted(spent.calls, 'LLM call')}, {spent.input_tokens:,} input and "
            f"{spent.output_tokens:,} output tokens",
        ),
    ]
    lines = [f"{name + ':':<11}{value}" for name, value in rows]
    if status.repositories:
        lines += ["repositories:", *_repository_lines(status.repositories)]
    width = max((len(each.name) for each in status.settings), default=0)
    settings = [
        f"  {each.name:<{width}}  {each.value}  ({each.origin})" for each in status.settings
    ]
    return [*lines, "settings:", *settings] if settings else lines


def _repository_lines(repositories: Sequence[RepositoryStatus]) -> list[str]:
    width = max(len(each.name) for each in repositories)
    lines = []
    for each in repositories:
        fresh = f"{each.stale:,} changed since" if each.stale else "up to date"
        state = fresh if each.is_there else "not there"
        sizes = f"{counted(each.files, 'file')}, {counted(each.chunks, 'chunk')}"
        lines.append(f"  {each.name:<{width}}  {escape_line(each.root)}  ({sizes}; {state})")
    return lines


def _step(step: OwnStep) -> str:
    group = step.group.rpartition(".")[2]
    return escape_line(f"{group} {step.name} ({step.package} {step.version})")


def hit_lines(retrieved: Retrieved, *, explain: bool = False) -> list[str]:
    """Return the hits of a search: place, score, symbol, the first lines."""
    if not retrieved.hits:
        return nothing_found_lines(retrieved)
    lines: list[str] = []
    for hit in retrieved.hits:
        lines += [] if not lines else [""]
        symbol = f"  {hit.chunk.symbol}" if hit.chunk.symbol else ""
        place = escape_line(hit.chunk.location)
        lines.append(f"{place}  {hit.score:.4f}{symbol}{_mark(hit.chunk.path, retrieved)}")
        if explain:
            lines.append(f"    {share_text(hit)}")
        lines += code_lines(hit, most=SEARCH_LINES)
    return lines


def nothing_found_lines(retrieved: Retrieved) -> list[str]:
    """Return that nothing was found, with the files that came closest."""
    if not retrieved.nearest:
        return [NOTHING_FOUND]
    nearest = [f"  - {escape_line(path)}" for path in retrieved.nearest]
    return [NOTHING_FOUND, "", "Nearest files:", *nearest]


def excerpt_lines(retrieved: Retrieved) -> list[str]:
    """Return the best hits as they stand in the files: what `ask` shows without a model."""
    lines: list[str] = []
    shown = [hit for hit in retrieved.hits if hit.chunk.path not in retrieved.deleted]
    for hit in shown[:SHOWN_EXCERPTS]:
        symbol = f"  {hit.chunk.symbol}" if hit.chunk.symbol else ""
        place = escape_line(hit.chunk.location)
        lines.append(f"{place}{symbol}{_mark(hit.chunk.path, retrieved)}")
        lines += [*code_lines(hit, most=EXCERPT_LINES), ""]
    return lines[:-1]


def code_lines(hit: Hit, *, most: int) -> list[str]:
    """Return the lines of a hit under their numbers, and how many more there are."""
    text = hit.chunk.text.split("\n")
    width = len(str(hit.chunk.end_line))
    numbered = enumerate(text[:most], start=hit.chunk.start_line)
    lines = [f"    {number:>{width}}  {line}".rstrip() for number, line in numbered]
    more = len(text) - most
    return [*lines, f"    {'':>{width}}  ... {counted(more, 'more line')}"] if more > 0 else lines


def source_lines(answer: Answer, *, with_places: bool = False) -> list[str]:
    """Return `Sources:` and the paths, best first; on a terminal with the lines used."""
    if not answer.sources:
        return ["Sources: none"]
    lines = ["Sources:"]
    for path in answer.sources:
        mark = " [changed since indexed]" if path in answer.retrieved.stale else ""
        used = f"  ({_places(answer, path)})" if with_places and _places(answer, path) else ""
        lines.append(f"  - {escape_line(path)}{used}{mark}")
    return lines


def _places(answer: Answer, path: str) -> str:
    """Return the lines of a path that hold up the answer, else those that were found."""
    cited = [
        (each.start_line, each.end_line)
        for each in answer.citations
        if each.valid and each.path == path
    ]
    found = [
        (hit.chunk.start_line, hit.chunk.end_line)
        for hit in answer.retrieved.hits
        if hit.chunk.path == path
    ]
    places = cited if answer.citations else found
    return ", ".join(f"{start}-{end}" for start, end in sorted(set(places)))


def citation_lines(citations: Sequence[Citation]) -> list[str]:
    """Return how many citations hold, and each that does not with its reason."""
    failing = [
        f"  - {escape_line(_place(each))}: {each.why}" for each in citations if not each.valid
    ]
    return [summarize(citations), *failing]


def _place(citation: Citation) -> str:
    if not citation.start_line:
        return citation.path
    return f"{citation.path}:{citation.start_line}-{citation.end_line}"


def explain_lines(answer: Answer, packed: Packed | None) -> list[str]:
    """Return what was searched, why each hit stands where it does, and what the model saw."""
    lines = ["Searched:"]
    lines += [f"  - {escape_line(search)}" for search in answer.question.searches]
    lines.append("Found:")
    lines += [
        f"  {rank:>2}. {escape_line(hit.chunk.location)}  {hit.score:.4f}  {share_text(hit)}"
        for rank, hit in enumerate(answer.retrieved.hits, start=1)
    ]
    if packed is not None:
        lines.append(f"Sent: {counted(len(packed.excerpts), 'excerpt')}, {packed.tokens:,} tokens")
        lines += [
            f"  [{each.number}] {escape_line(each.location)}{' (cut)' if each.is_cut else ''}"
            for each in packed.excerpts
        ]
        lines += ["Left out:"] if packed.omitted else []
        lines += [f"  - {escape_line(left.location)}: {left.reason}" for left in packed.omitted]
    if answer.unknown_identifiers:
        names = ", ".join(answer.unknown_identifiers)
        lines.append(f"Names in the answer that no excerpt has: {names}")
    return lines


def share_text(hit: Hit) -> str:
    """Return the ranks of a hit in the two searches and what each part added to its score."""
    ranks = [
        f"{name} rank {rank}"
        for name, rank in (("vector", hit.vector_rank), ("text", hit.text_rank))
        if rank is not None
    ]
    shares = [f"{name} {share:+.4f}" for name, share in hit.shares.items()]
    return ", ".join([*ranks, *shares, f"relevance {hit.relevance:.2f}"])


def history_lines(entries: Sequence[Entry]) -> list[str]:
    """Return past questions with what came of each, oldest first."""
    lines: list[str] = []
    previous = ""
    for entry in entries:
        follows = "  (follow-up)" if entry.conversation == previous else ""
        previous = entry.conversation
        held = sum(citation.valid for citation in entry.citations)
        checked = f", {held} of {len(entry.citations)} citations" if entry.citations else ""
        lines += [
            f"{entry.asked_at[:19].replace('T', ' ')} UTC  {entry.mode}{checked}{follows}",
            f"  {escape_line(entry.question)}",
            *(f"    {line}".rstrip() for line in (entry.answer or "").split("\n") if entry.answer),
            "",
        ]
    return lines[:-1] or ["no question was asked yet"]


def counted(count: int, noun: str) -> str:
    """Return a count with its noun in the right number: `1 file`, `2 files`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _mark(path: str, retrieved: Retrieved) -> str:
    if path in retrieved.deleted:
        return "  [deleted]"
    return "  [changed since indexed]" if path in retrieved.stale else ""
