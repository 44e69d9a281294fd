"""Keep calls under way, and hand each file on when what its chunks need is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic

from askcode.calling import Callers, Outcome, Value
from askcode.errors import BudgetSpent, ChunkError, ContextTooLong, RunError, TransientError
from askcode.looking_up import ChunkedFile, Looked, Lookup
from askcode.planning_calls import Call, Want, alone
from askcode.records import Usage
from askcode.spending import Budget, Spending

# Calls that wait while others are under way: enough to keep the threads busy while the
# consumer embeds and stores what is done, and a bound on what is held in memory.
WAITING_PER_CALLER = 4

# How long a run that cannot go on waits for calls under way, whose replies are paid for.
LAST_REPLIES_S = 10.0

# When none of so many shared calls came back in pieces, the model does not follow the form.
SHARED_TRIES = 2

_MAX_ATTEMPTS = 2


@dataclass(slots=True, eq=False)
class OpenFile:
    """A file whose calls are not all done."""

    looked: Looked
    missing: set[str]
    reused: int
    masked: int
    failures: dict[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)


class Run:
    """The moving parts of one run; used by the consumer's thread alone."""

    def __init__(
        self,
        lookup: Lookup,
        callers: Callers | None,
        *,
        budget: Budget,
        on_call: Callable[[str], None],
    ) -> None:
        self._source: Iterator[ChunkedFile] = iter(())
        self._lookup = lookup
        self._planner = lookup.planner
        self._callers = callers
        self._spending = Spending(budget)
        self._on_call = on_call
        self._backlog: deque[Call] = deque()
        self._waiting: dict[str, list[OpenFile]] = {}
        self._done: deque[OpenFile] = deque()
        self._failed: dict[str, str] = {}
        self._expected: dict[int, Usage] = {}
        self._stopped: BaseException | None = None
        self._deadline = 0.0
        self._last_transient: TransientError | None = None
        self._worked = 0
        self._shared_tries = 0
        self._has_shared = False

    def files(self, source: Iterator[ChunkedFile]) -> Iterator[OpenFile]:
        """Yield the files as they get done, then raise what ended the run early.

        A run may take several sources, one after the other: what was spent, and what was
        learned of the model, holds for the next one.
        """
        self._source = source
        while True:
            self._fill()
            if self._done:
                # then fill again before waiting: what is cached must not idle the threads
                while self._done:
                    yield self._done.popleft()
            elif self._expected:
                self._settle_next()
            else:
                break
        if self._stopped:
            raise self._stopped
        if self._last_transient and not self._worked:
            raise self._last_transient

    def close(self) -> None:
        """End the threads, without waiting for calls under way."""
        if self._callers:
            self._callers.stop()

    def _fill(self) -> None:
        """Submit calls until enough are under way or a file is done."""
        most = self._callers.concurrency * WAITING_PER_CALLER if self._callers else 1
        while not self._stopped and not self._done and len(self._expected) < most:
            if not self._backlog and not self._open_next_file():
                return
            if self._backlog:
                self._submit(self._backlog.popleft())

    def _open_next_file(self) -> bool:
        file = next(self._source, None)
        if file is None:
            return False
        looked = self._lookup.look_up(file, self._waiting.keys())
        reused = looked.reused(asks=self._lookup.asks)
        looked.wants = [want for want in looked.wants if want.key not in self._failed]
        plan = self._planner.plan(file.file, looked.wants)
        needed = looked.needs.values() if self._lookup.asks else ()
        missing = {key for key in needed if key not in looked.known}
        opened = OpenFile(looked, missing, reused, plan.masked)
        self._backlog.extend(plan.calls)
        for key in tuple(opened.missing):
            if key in self._failed:
                opened.missing.discard(key)
                opened.failures[key] = self._failed[key]
            else:
                self._waiting.setdefault(key, []).append(opened)
        if not opened.missing:
            self._done.append(opened)
        return True

    def _submit(self, call: Call) -> None:
        for lone in self._split_when_useless(call):
            prompt = self._planner.prompt(lone)
            expected = Usage(
                1, self._planner.input_tokens(prompt), self._planner.output_tokens(lone)
            )
            self._stopped = self._spending.take(expected)
            if self._stopped:
                return
            assert self._callers is not None, "calls are planned for a model only"
            self._expected[id(lone)] = expected
            self._callers.submit(lone, prompt)

    def _split_when_useless(self, call: Call) -> list[Call]:
        is_useless = self._shared_tries >= SHARED_TRIES and not self._has_shared
        if len(call.wants) == 1 or not is_useless:
            return [call]
        return [alone(call, number, attempt=1) for number in range(len(call.wants))]

    def _settle_next(self) -> None:
        assert self._callers is not None, "nothing can be under way without threads"
        if isinstance(self._stopped, BudgetSpent) or not self._stopped:
            outcome = self._callers.outcome()
        else:
            self._callers.drop_waiting()
            outcome = self._callers.outcome(max(self._deadline - monotonic(), 0.0))
        if outcome is None:
            self._expected.clear()
            return
        self._settle(outcome)

    def _settle(self, outcome: Outcome) -> None:
        call = outcome.call
        self._spending.settle(self._expected.pop(id(call)), outcome.usage)
        if outcome.is_dropped:
            return
        self._waiting[call.wants[0].key][0].usage += outcome.usage
        if outcome.error is None:
            self._worked += 1
            self._take_values(call, outcome.values)
        else:
            self._take_error(call, outcome.error)
        self._on_call(call.path)

    def _take_values(self, call: Call, values: Mapping[str, Value]) -> None:
        if len(call.wants) > 1:
            self._shared_tries += 1
            self._has_shared |= bool(values)
        for number, want in enumerate(call.wants):
            value = values.get(want.key)
            if value is not None:
                self._resolve(want.key, value)
            elif call.attempt < _MAX_ATTEMPTS:
                again = alone(call, number, attempt=2, is_unread=len(call.wants) == 1)
                self._backlog.appendleft(again)
            else:
                self._fail(want, f"the model's reply held no {want.kind}")

    def _take_error(self, call: Call, error: BaseException) -> None:
        if isinstance(error, TransientError):
            self._last_transient = error
        if isinstance(error, ContextTooLong) and call.attempt < _MAX_ATTEMPTS:
            if len(call.wants) == 1:
                self._backlog.appendleft(self._planner.shrunk(call))
            else:
                for number in range(len(call.wants)):
                    self._backlog.append(alone(call, number, attempt=2))
        elif isinstance(error, (ChunkError, TransientError)):
            for want in call.wants:
                self._fail(want, error.message)
        elif not isinstance(self._stopped, RunError):
            self._stopped = error
            self._deadline = monotonic() + LAST_REPLIES_S

    def _resolve(self, key: str, value: Value) -> None:
        for opened in self._waiting.pop(key):
            opened.looked.known[key] = value
            self._close_if_done(opened, key)

    def _fail(self, want: Want, message: str) -> None:
        self._failed[want.key] = message
        for opened in self._waiting.pop(want.key):
            opened.failures[want.key] = message
            self._close_if_done(opened, want.key)

    def _close_if_done(self, opened: OpenFile, key: str) -> None:
        opened.missing.discard(key)
        if not opened.missing:
            self._done.append(opened)
