"""Have the language model describe chunks: questions with answers, summary, title, keywords.

Replies are kept by content, prompt and model, so nothing is paid for twice. A file is handed
on as soon as all its chunks are done; a chunk whose description fails stays, without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from askcode.calling import Callers
from askcode.looking_up import ChunkedFile, Looked, Lookup
from askcode.own_steps import LoadedStep
from askcode.planning_calls import MODEL_KINDS, SHARED_PIECES, CallPlanner
from askcode.prompting import Prompts
from askcode.protocols import DescriptionCache, LanguageModel
from askcode.records import Chunk, Description, Estimate, Note, QuestionAnswer, SourceFile, Usage
from askcode.running_calls import OpenFile, Run
from askcode.running_steps import notes_of
from askcode.spending import Budget

__all__ = ["Budget", "ChunkedFile", "DescribedFile", "Describer", "DescribingRun"]

# An outline may list hundreds of names; more than this drowns what else is said of a chunk.
MAX_OUTLINE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class DescribedFile:
    """A file with its chunks and a description of each."""

    file: SourceFile
    chunks: tuple[Chunk, ...]
    descriptions: tuple[Description, ...]
    """One for each chunk; an empty note marks a kind that there is nothing to say for."""
    failures: tuple[str, ...]
    """What is missing and why, each with the place of its chunk."""
    usage: Usage
    reused: int
    """Chunks that needed no call of their own."""
    masked: int
    """Secrets that were masked in what was sent."""


class DescribingRun:
    """Describe the files of one part after the other, within one budget."""

    def __init__(self, run: Run, described: Callable[[OpenFile], DescribedFile]) -> None:
        self._run = run
        self._described = described

    def describe(self, files: Iterable[ChunkedFile]) -> Iterator[DescribedFile]:
        """Yield each file of a part as Describer.describe does, and raise as it does.

        What ended the run in one part is raised again by each part after it.
        """
        for done in self._run.files(iter(files)):
            yield self._described(done)

    def close(self) -> None:
        """Let the calls under way be the last ones."""
        self._run.close()


def _ignore(path: str) -> None:
    """Take the path of a call that ended and do nothing."""


@dataclass(frozen=True, slots=True)
class Describer:
    """Describe the chunks of files; without a model, by what is known already."""

    model: LanguageModel | None
    cache: DescriptionCache
    prompts: Prompts
    count_tokens: Callable[[str], int]
    kinds: tuple[str, ...] = ("questions",)
    questions_per_chunk: int = 3
    concurrency: int = 8
    budget: Budget = field(default_factory=Budget)
    chunks_per_call: int | None = None
    """At most so many small neighbours share a call. None: one with a model on this machine,
    whose calls cost nothing and which loses count more easily, several with others."""
    on_call: Callable[[str], None] = _ignore
    """Called in the consumer's thread with the path of each call that ended."""
    own_steps: tuple[LoadedStep, ...] = ()
    """What installed packages say of each chunk; the language model has no part in it."""

    @property
    def wanted_kinds(self) -> tuple[str, ...]:
        """Return the metadata kinds that this describer can give every chunk."""
        own = tuple(step.kind for step in self.own_steps)
        given = self.kinds if self.model else [k for k in self.kinds if k not in MODEL_KINDS]
        return (*given, *own)

    def estimate(self, files: Iterable[ChunkedFile]) -> Estimate:
        """Count what describing the files would take, without a call.

        Calls and input tokens are those of a run in which nothing fails; output tokens are
        expected (see planning_calls).
        """
        lookup = self._lookup()
        planner = lookup.planner
        total = Estimate()
        planned: set[str] = set()
        for file in files:
            looked = lookup.look_up(file, planned)
            planned.update(want.key for want in looked.wants)
            calls = planner.plan(file.file, looked.wants).calls
            prompts = [planner.prompt(call) for call in calls]
            total = Estimate(
                total.calls + len(calls),
                total.input_tokens + sum(map(planner.input_tokens, prompts)),
                total.output_tokens + sum(map(planner.output_tokens, calls)),
                total.reused + looked.reused(asks=lookup.asks),
            )
        return total

    def describe(self, files: Iterable[ChunkedFile]) -> Iterator[DescribedFile]:
        """Yield each file when its chunks are done, in the order in which they get done.

        Raises:
            BudgetSpent: after the files that were finished within the budget.
            RunError: after the files that were finished before no call could work any more.
            TransientError: after all files, when not one call of the run worked.
        """
        with closing(self.start()) as run:
            yield from run.describe(files)

    def start(self) -> DescribingRun:
        """Begin a run whose files come in several parts; it is to be closed."""
        callers = None
        if self.model:
            callers = Callers(
                self.model,
                self.cache,
                count=self.questions_per_chunk,
                concurrency=self.concurrency,
            )
        run = Run(self._lookup(), callers, budget=self.budget, on_call=self.on_call)
        return DescribingRun(run, self._described)

    def _lookup(self) -> Lookup:
        is_local = self.model is None or self.model.is_local
        planner = CallPlanner(
            prompts=self.prompts,
            count_tokens=self.count_tokens,
            kinds=tuple(kind for kind in self.kinds if kind in MODEL_KINDS),
            questions_per_chunk=self.questions_per_chunk,
            model_name=self.model.name if self.model else "",
            chunks_per_call=self.chunks_per_call or (1 if is_local else SHARED_PIECES),
            masks_secrets=not is_local,
        )
        return Lookup(planner, self.cache, asks=self.model is not None)

    def _described(self, done: OpenFile) -> DescribedFile:
        file = done.looked.file
        outlines = self._outlines(file.file)
        own = [notes_of(self.own_steps, chunk) for chunk in file.chunks]
        places = range(len(file.chunks))
        failures = [
            f"{file.chunks[place].location}: {done.failures[key]}"
            for (place, _), key in done.looked.needs.items()
            if key in done.failures
        ]
        failures += [message for _, messages in own for message in messages]
        return DescribedFile(
            file.file,
            file.chunks,
            tuple(
                self._description(done.looked, place, (*outlines, *own[place][0]))
                for place in places
            ),
            tuple(failures),
            done.usage,
            done.reused,
            done.masked,
        )

    def _description(self, looked: Looked, place: int, free: tuple[Note, ...]) -> Description:
        questions: tuple[QuestionAnswer, ...] = ()
        notes: list[Note] = []
        for kind in self.kinds:
            if kind not in MODEL_KINDS:
                continue
            key = looked.needs.get((place, kind))
            value = looked.known.get(key) if key else ""
            if isinstance(value, tuple):
                questions = value
            elif value is not None:
                notes.append(Note(kind, value))
        return Description(questions, (*notes, *free))

    def _outlines(self, file: SourceFile) -> tuple[Note, ...]:
        if "outline" not in self.kinds:
            return ()
        from askcode.chunking import outline

        return (Note("outline", outline(file)[:MAX_OUTLINE_CHARS]),)
