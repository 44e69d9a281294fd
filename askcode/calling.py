"""Ask the language model in several threads, and keep each reply as soon as it arrives."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from askcode.errors import AskcodeError, RunError
from askcode.parsing_notes import parse_note
from askcode.parsing_replies import parse_pairs, parse_pieces
from askcode.planning_calls import Call, latest_key
from askcode.protocols import DescriptionCache, LanguageModel
from askcode.records import Prompt, QuestionAnswer, Reply, Usage

Value = tuple[QuestionAnswer, ...] | str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call: values by key, without those that the reply did not hold."""

    call: Call
    values: Mapping[str, Value] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    error: BaseException | None = None
    is_dropped: bool = False
    """Whether the call was not made, because the run was over."""


class Callers:
    """Threads that make calls; they never keep the process alive."""

    def __init__(
        self, model: LanguageModel, cache: DescriptionCache, *, count: int, concurrency: int
    ) -> None:
        self.concurrency = concurrency
        self._model = model
        self._cache = cache
        self._questions = count
        self._jobs: SimpleQueue[tuple[Call, Prompt] | None] = SimpleQueue()
        self._outcomes: SimpleQueue[Outcome] = SimpleQueue()
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []

    def submit(self, call: Call, prompt: Prompt) -> None:
        """Have a call made; the threads start with the first one."""
        if not self._threads:
            self._start()
        self._jobs.put((call, prompt))

    def outcome(self, timeout_s: float | None = None) -> Outcome | None:
        """Wait for the next outcome; None when none came in time."""
        try:
            return self._outcomes.get(timeout=timeout_s)
        except Empty:
            return None

    def drop_waiting(self) -> None:
        """Let calls that no thread has begun end without being made."""
        self._is_over.set()

    def stop(self) -> None:
        """Let the threads end after the calls they are in."""
        self.drop_waiting()
        for _ in self._threads:
            self._jobs.put(None)

    def _start(self) -> None:
        for _ in range(self.concurrency):
            # a daemon: a request that hangs must not hold up the end of the process
            thread = threading.Thread(target=self._work, name="askcode-caller", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            call, prompt = job
            try:
                outcome = self._outcome(call, prompt)
            except BaseException as error:  # noqa: BLE001 - raised again by the consumer
                outcome = Outcome(call, error=error)
            self._outcomes.put(outcome)

    def _outcome(self, call: Call, prompt: Prompt) -> Outcome:
        if self._is_over.is_set():
            return Outcome(call, is_dropped=True)
        try:
            reply = self._model.complete(prompt)
        except AskcodeError as error:
            if isinstance(error, RunError):
                # here, since the consumer may come to this outcome only after other calls
                self.drop_waiting()
            return Outcome(call, usage=Usage(calls=1), error=error)
        values = read_reply(call, reply, count=self._questions)
        self._keep(call, values, reply.usage)
        return Outcome(call, values, reply.usage)

    def _keep(self, call: Call, values: Mapping[str, Value], usage: Usage) -> None:
        """Put what was paid for into the cache; an unusable reply is kept as a cost alone."""
        for want in call.wants:
            value = values.get(want.key)
            if value is None:
                continue
            self._cache.put(want.key, value, usage=usage)
            self._cache.put(latest_key(want.chunk, want.kind), value, usage=Usage())
            usage = Usage()
        if usage != Usage():
            self._cache.put(f"unusable:{call.wants[0].key}", "", usage=usage)


def read_reply(call: Call, reply: Reply, *, count: int) -> dict[str, Value]:
    """Return what a reply says of each chunk of its call; what it does not hold is absent."""
    values: list[Value]
    if call.kind != "questions":
        values = [parse_note(call.kind, reply)]
    elif len(call.wants) == 1:
        values = [parse_pairs(reply, count=count)]
    else:
        values = list(parse_pieces(reply, pieces=len(call.wants), count=count))
    together = zip(call.wants, values, strict=True)
    return {want.key: value for want, value in together if value}
