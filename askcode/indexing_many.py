"""Bring several repositories in one index up to date, one after the other.

Each is indexed as it would be alone, by its own rules and settings; its paths get its name in
front where they enter and leave the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from askcode.errors import LanguageModelError
from askcode.indexing import Indexer, Progress, Survey, ignore_progress
from askcode.named_store import NamedStore
from askcode.protocols import Store
from askcode.records import (
    Estimate,
    FailedFile,
    FilePlan,
    IndexedFile,
    IndexPlan,
    IndexReport,
    Skipped,
)
from askcode.repositories import Repository, full_path, split_name


@dataclass(frozen=True, slots=True)
class Member:
    """A repository to be indexed, and what makes its indexer over a store."""

    repository: Repository
    make_indexer: Callable[[Store], Indexer]
    chunk_tokens: int
    """The size its chunks are cut to; stored files that were cut otherwise count as changed."""

    @property
    def begun(self) -> Repository:
        """Return what the list of the index says until the last file is stored."""
        return self.repository if self.repository.chunk_tokens else self.done

    @property
    def done(self) -> Repository:
        """Return what the list says from then on."""
        return replace(self.repository, chunk_tokens=self.chunk_tokens)


@dataclass(frozen=True, slots=True)
class ManyIndexer:
    """Survey, plan and run over several repositories and one store, as an Indexer does over one."""

    members: Sequence[Member]
    store: Store
    remember: Callable[[Sequence[Repository]], None]
    """Keeps repositories in the list of the index: all before the first file is stored, so
    that the next run knows those that this one does not reach, and each with what it was cut
    to after its last."""

    def survey(self) -> Survey:
        """Compare the files of each repository with the store; change nothing."""
        surveys = {member.repository.name: indexer.survey() for member, indexer in self._indexers()}
        return Survey(
            tuple(_named_plan(name, file) for name, each in surveys.items() for file in each.files),
            tuple(
                _named_skip(name, left) for name, each in surveys.items() for left in each.skipped
            ),
            tuple(full_path(name, path) for name, each in surveys.items() for path in each.removed),
            tuple(f"{name}: {text}" for name, each in surveys.items() for text in each.warnings),
            sum(each.considered for each in surveys.values()),
            sum(each.seconds for each in surveys.values()),
        )

    def plan(self, survey: Survey) -> IndexPlan:
        """Chunk what changed and count what its descriptions would cost; make no call."""
        parts = _by_repository(survey)
        plans = [
            indexer.plan(parts.get(member.repository.name, _NOTHING))
            for member, indexer in self._indexers()
        ]
        estimates = [plan.estimate for plan in plans]
        total = Estimate(
            sum(each.calls for each in estimates),
            sum(each.input_tokens for each in estimates),
            sum(each.output_tokens for each in estimates),
            sum(each.reused for each in estimates),
        )
        chunks = sum(plan.chunks for plan in plans)
        return IndexPlan(survey.files, survey.removed, chunks, total)

    def run(
        self, survey: Survey, *, on_progress: Callable[[Progress], None] = ignore_progress
    ) -> IndexReport:
        """Index what the survey found changed; one that cannot go on stops those behind it.

        Raises:
            LanguageModelError: no call can work, and nothing was stored in this run.
            EmbedderError: the embedding model cannot be used.
        """
        parts = _by_repository(survey)
        reports: dict[str, IndexReport] = {}
        self.remember([member.begun for member in self.members])
        for member, indexer in self._indexers():
            name = member.repository.name
            track = _Shifted(name, survey, list(reports.values()), on_progress)
            try:
                reports[name] = indexer.run(parts.get(name, _NOTHING), on_progress=track)
            except LanguageModelError as error:
                if not any(report.indexed for report in reports.values()):
                    raise
                last = next(reversed(reports))
                reports[last] = replace(reports[last], stopped=str(error))
            if next(reversed(reports.values())).stopped:
                break
            if member.begun != member.done:
                self.remember([member.done])
        changed = any(report.indexed or report.removed for report in reports.values())
        notes = self.store.finish() if changed else []
        return self._merged(reports, survey, notes)

    def _indexers(self) -> Iterable[tuple[Member, Indexer]]:
        known: dict[str, dict[str, IndexedFile]] = defaultdict(dict)
        for path, file in self.store.files().items():
            name, inner = split_name(path)
            known[name][inner] = replace(file, path=inner)
        for member in self.members:
            of_member: Mapping[str, IndexedFile] = known[member.repository.name]
            if member.repository.chunk_tokens not in (0, member.chunk_tokens):
                of_member = {path: replace(file, digest="") for path, file in of_member.items()}
            store = NamedStore(self.store, member.repository.name, of_member)
            yield member, member.make_indexer(store)

    def _merged(
        self, reports: dict[str, IndexReport], survey: Survey, notes: Sequence[str]
    ) -> IndexReport:
        last = next(reversed(reports.values()))
        each = list(reports.items())
        return IndexReport(
            indexed=sum(report.indexed for _, report in each),
            unchanged=survey.unchanged,
            removed=sum(report.removed for _, report in each),
            skipped=tuple(_named_skip(name, left) for name, one in each for left in one.skipped),
            failed=tuple(
                FailedFile(full_path(name, file.path), file.error)
                for name, one in each
                for file in one.failed
            ),
            chunks_written=sum(report.chunks_written for _, report in each),
            chunks_total=sum(file.chunks for file in self.store.files().values()),
            # the meter of the language model is one for the whole run
            usage=last.usage,
            reused=sum(report.reused for _, report in each),
            embedder=last.embedder,
            seconds=sum(report.seconds for _, report in each),
            stopped=last.stopped,
            masked_secrets=sum(report.masked_secrets for _, report in each),
            notes=(*(f"{name}: {text}" for name, one in each for text in one.notes), *notes),
        )


_NOTHING = Survey((), (), ())


@dataclass(frozen=True, slots=True)
class _Shifted:
    """Report the progress of one repository as part of the progress of all."""

    name: str
    survey: Survey
    before: Sequence[IndexReport]
    on_progress: Callable[[Progress], None]

    def __call__(self, step: Progress) -> None:
        files = sum(report.indexed for report in self.before)
        chunks = sum(report.chunks_written for report in self.before)
        self.on_progress(
            Progress(
                files + step.files,
                len(self.survey.changed),
                chunks + step.chunks,
                full_path(self.name, step.path),
                files + step.stored,
            )
        )


def _by_repository(survey: Survey) -> dict[str, Survey]:
    """Return the survey of each repository, its paths as they are below its root."""
    files: dict[str, list[FilePlan]] = defaultdict(list)
    skipped: dict[str, list[Skipped]] = defaultdict(list)
    removed: dict[str, list[str]] = defaultdict(list)
    for file in survey.files:
        name, path = split_name(file.path)
        files[name].append(replace(file, path=path))
    for left in survey.skipped:
        name, path = split_name(left.path)
        skipped[name].append(replace(left, path=path))
    for full in survey.removed:
        name, path = split_name(full)
        removed[name].append(path)
    return {
        name: Survey(tuple(files[name]), tuple(skipped[name]), tuple(removed[name]))
        for name in {*files, *skipped, *removed}
    }


def _named_plan(name: str, file: FilePlan) -> FilePlan:
    return replace(file, path=full_path(name, file.path))


def _named_skip(name: str, left: Skipped) -> Skipped:
    return replace(left, path=full_path(name, left.path))
