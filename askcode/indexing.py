"""Bring an index up to date: survey the files, then chunk, describe, embed and store.

A file counts as done only when its rows are stored, all of them in one step; whatever
stops a run, the index holds whole files of the state it last saw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from askcode.chunking import Chunker
from askcode.describing import ChunkedFile, DescribedFile, Describer
from askcode.errors import BudgetSpent, IndexIncomplete, LanguageModelError
from askcode.own_steps import is_own_kind
from askcode.protocols import Embedder, Store
from askcode.records import (
    FailedFile,
    FilePlan,
    IndexedFile,
    IndexPlan,
    IndexReport,
    Row,
    Skipped,
    Usage,
)
from askcode.representing import passages, search_text
from askcode.scanning import Listing, ScanRules, list_files, read_file

# A commit costs about 30 ms whatever its size, and holds its rows in memory until then.
MAX_BATCH_CHUNKS = 512
# With a slow language model a batch would take minutes to fill; a kill should cost seconds.
MAX_BATCH_SECONDS = 5.0

METADATA_MISSING = "metadata missing"
METADATA_OUTDATED = "own steps changed"
# What is stored still says what the files say.
_METADATA_REASONS = (METADATA_MISSING, METADATA_OUTDATED)


@dataclass(frozen=True, slots=True)
class Survey:
    """How the files on disk differ from the index."""

    files: tuple[FilePlan, ...]
    skipped: tuple[Skipped, ...]
    removed: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    considered: int = 0
    """Files that git lists, whether they are left out or not."""
    seconds: float = 0.0

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the paths to index, in order."""
        return tuple(file.path for file in self.files if file.decision == "index")

    @property
    def unchanged(self) -> int:
        """Return how many files are stored as they are on disk."""
        return sum(file.decision == "unchanged" for file in self.files)

    @property
    def is_stale(self) -> bool:
        """Return whether the index says something else than the files do."""
        return bool(self.removed) or any(
            file.decision == "index" and file.reason not in _METADATA_REASONS for file in self.files
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    files: int
    total_files: int
    chunks: int
    path: str = ""
    stored: int = 0
    """Files that a kill at this moment could not take back."""


class Engine(Protocol):
    """Chunk, describe and embed files elsewhere than in this process."""

    def describe(
        self, files: Sequence[FilePlan], on_skipped: Callable[[Skipped], None]
    ) -> Iterator[DescribedFile]:
        """Yield each file when it is done, as Describer.describe does, and raise as it does."""
        ...

    def rows(self, files: Sequence[DescribedFile]) -> dict[str, list[Row]]:
        """Return the rows of files that were yielded, by path; each can be had once."""
        ...


def ignore_progress(progress: Progress) -> None:
    """Take a progress report and do nothing."""


@dataclass(frozen=True, slots=True)
class Indexer:
    """Survey, plan and run over one root and one store."""

    root: Path
    rules: ScanRules
    index_dir: Path
    chunker: Chunker
    describer: Describer
    embedder: Embedder
    store: Store
    spent: Callable[[], Usage] = field(default=Usage)
    """What the language model was used for so far in this run."""
    engine: Engine | None = None
    """Does the work of a run; None does it here."""

    def survey(self) -> Survey:
        """Compare the files on disk with the store; read every file, change nothing.

        Every file is read, since a time stamp can lie and a digest cannot; it costs about
        a second for 10,000 files.
        """
        started = time.monotonic()
        listing = list_files(self.root, self.rules, index_dir=self.index_dir)
        known = self.store.files()
        plans, skipped = self._look_at(listing, known)
        present = {plan.path for plan in plans if plan.decision != "skip"}
        removed = tuple(sorted(path for path in known if path not in present))
        return Survey(
            tuple(plans),
            tuple(skipped),
            removed,
            listing.warnings,
            listing.considered,
            time.monotonic() - started,
        )

    def plan(self, survey: Survey) -> IndexPlan:
        """Chunk what changed and count what its descriptions would cost; make no call."""
        counted = _Counted(chunked_files(self.root, self.rules, self.chunker, survey.changed))
        estimate = self.describer.estimate(counted)
        return IndexPlan(survey.files, survey.removed, counted.chunks, estimate)

    def run(
        self, survey: Survey, *, on_progress: Callable[[Progress], None] = ignore_progress
    ) -> IndexReport:
        """Index what the survey found changed, and drop what is gone.

        Raises:
            LanguageModelError: no call can work, and nothing was stored in this run.
            EmbedderError: the embedding model cannot be used.
        """
        started = time.monotonic()
        work = _Run(self, survey, on_progress)
        failure = work.go()
        if isinstance(failure, LanguageModelError) and not self.spent().calls:
            # no call worked at all: the run is a failed one, whatever needed no call
            raise failure
        notes = self.store.finish() if work.indexed or survey.removed else []
        return IndexReport(
            indexed=work.indexed,
            unchanged=survey.unchanged,
            removed=len(survey.removed),
            skipped=(*survey.skipped, *work.skipped),
            failed=tuple(work.failed),
            chunks_written=work.chunks,
            chunks_total=sum(file.chunks for file in self.store.files().values()),
            usage=self.spent(),
            reused=work.reused,
            embedder=self.embedder.identity,
            seconds=survey.seconds + time.monotonic() - started,
            stopped=str(failure or ""),
            masked_secrets=work.masked,
            notes=(*survey.warnings, *notes),
        )

    def _look_at(
        self, listing: Listing, known: Mapping[str, IndexedFile]
    ) -> tuple[list[FilePlan], list[Skipped]]:
        plans: list[FilePlan] = []
        skipped = list(listing.skipped)
        for path in listing.paths:
            source = read_file(self.root, path, self.rules)
            if isinstance(source, Skipped):
                skipped.append(source)
            elif source is not None:
                reason = self._why_index(known.get(path), source.digest)
                plans.append(
                    FilePlan(
                        path,
                        "index" if reason else "unchanged",
                        reason,
                        len(source.text.encode("utf-8", "surrogatepass")),
                        source.language,
                        source.note,
                    )
                )
        plans += [FilePlan(left.path, "skip", _reason(left), left.bytes) for left in skipped]
        plans.sort(key=lambda plan: plan.path)
        return plans, sorted(skipped, key=lambda left: left.path)

    def _why_index(self, known: IndexedFile | None, digest: str) -> str:
        if known is None:
            return "new"
        if known.digest != digest:
            return "changed"
        if not set(filter(is_own_kind, known.some_kinds)) <= set(self.describer.wanted_kinds):
            return METADATA_OUTDATED
        if not set(self.describer.wanted_kinds) <= set(known.kinds):
            return METADATA_MISSING
        return ""


def chunked_files(
    root: Path,
    rules: ScanRules,
    chunker: Chunker,
    paths: Iterable[str],
    on_skipped: Callable[[Skipped], None] | None = None,
) -> Iterator[ChunkedFile]:
    """Read and chunk files; those that are gone are passed over."""
    for path in paths:
        source = read_file(root, path, rules)
        if isinstance(source, Skipped):
            if on_skipped:
                on_skipped(source)
        elif source is not None:
            yield ChunkedFile(source, tuple(chunker.chunk(source)))


def _reason(left: Skipped) -> str:
    return f"{left.reason}: {left.detail}" if left.detail else left.reason


class _Counted:
    """Pass chunked files on and count their chunks."""

    def __init__(self, files: Iterable[ChunkedFile]) -> None:
        self._files = files
        self.chunks = 0

    def __iter__(self) -> Iterator[ChunkedFile]:
        for file in self._files:
            self.chunks += len(file.chunks)
            yield file


class _Run:
    """The moving parts of one run: what is pending, and what was stored."""

    def __init__(
        self, indexer: Indexer, survey: Survey, on_progress: Callable[[Progress], None]
    ) -> None:
        self.indexer = indexer
        self.survey = survey
        self.on_progress = on_progress
        self.indexed = self.chunks = self.reused = self.masked = 0
        self.failed: list[FailedFile] = []
        self.skipped: list[Skipped] = []
        self._pending: list[DescribedFile] = []
        self._vanished = set(survey.changed)
        self._last_commit = time.monotonic()

    def go(self) -> LanguageModelError | IndexIncomplete | None:
        """Store all that can be described; return what ended the run early, or None."""
        failure: LanguageModelError | IndexIncomplete | None = None
        if self.survey.removed:
            self.indexer.store.replace({}, removed=self.survey.removed)
        try:
            for described in self._described():
                self._take(described)
        except (BudgetSpent, LanguageModelError) as error:
            failure = error
        self._commit()
        if failure is None and self._vanished:
            self.indexer.store.replace({}, removed=sorted(self._vanished))
        return failure

    def _described(self) -> Iterator[DescribedFile]:
        own, paths = self.indexer, self.survey.changed
        if own.engine:
            files = [file for file in self.survey.files if file.decision == "index"]
            return own.engine.describe(files, self.skipped.append)
        return own.describer.describe(
            chunked_files(own.root, own.rules, own.chunker, paths, self.skipped.append)
        )

    def _rows(self) -> dict[str, list[Row]]:
        if self.indexer.engine:
            return self.indexer.engine.rows(self._pending)
        return make_rows(self._pending, self.indexer.embedder)

    def _take(self, described: DescribedFile) -> None:
        path = described.file.path
        self._vanished.discard(path)
        self._pending.append(described)
        self.reused += described.reused
        self.masked += described.masked
        self.failed += [FailedFile(path, message) for message in described.failures]
        if self._is_due():
            self._commit()
        self.on_progress(
            Progress(
                self.indexed + len(self._pending),
                len(self.survey.changed),
                self.chunks + self._pending_chunks(),
                path,
                self.indexed,
            )
        )

    def _pending_chunks(self) -> int:
        return sum(len(file.chunks) for file in self._pending)

    def _is_due(self) -> bool:
        waited = time.monotonic() - self._last_commit
        return self._pending_chunks() >= MAX_BATCH_CHUNKS or waited >= MAX_BATCH_SECONDS

    def _commit(self) -> None:
        if self._pending:
            self.indexer.store.replace(self._rows())
            self.indexed += len(self._pending)
            self.chunks += self._pending_chunks()
            self._pending = []
        self._last_commit = time.monotonic()


def make_rows(files: Sequence[DescribedFile], embedder: Embedder) -> dict[str, list[Row]]:
    """Embed described files and return their rows by path."""
    texts: list[str] = []
    counts: list[int] = []
    for file in files:
        for chunk, description in zip(file.chunks, file.descriptions, strict=True):
            chunk_texts = passages(chunk, description)
            texts += chunk_texts
            counts.append(len(chunk_texts))
    vectors = embedder.embed_passages(texts)
    rows: dict[str, list[Row]] = {}
    place = 0
    remaining = iter(counts)
    for file in files:
        rows[file.file.path] = []
        for chunk, description in zip(file.chunks, file.descriptions, strict=True):
            count = next(remaining)
            rows[file.file.path].append(
                Row(
                    chunk,
                    description,
                    file.file.digest,
                    search_text(chunk, description),
                    vectors[place : place + count],
                )
            )
            place += count
    return rows
