"""Ask a language model behind any OpenAI-compatible endpoint.

One instance is one run: it remembers how the server wants to be spoken to, how fast it may
be asked, and that no request can work any more.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from askcode.adapters.chat_dialects import REFUSING, LearntDialect, Sent, first_dialect, put
from askcode.adapters.chat_listening import Heard, Listener, usage_of
from askcode.adapters.openai_errors import Failure, Kind, safe_words
from askcode.adapters.openai_requests import OpenAIRequests, RequestFailed
from askcode.adapters.rate_limiting import RateLimiter, RetryBudget
from askcode.adapters.run_progress import RunProgress
from askcode.errors import ChunkError, ContextTooLong, RunError, TransientError
from askcode.providers import Endpoint
from askcode.records import Prompt, Reply

FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 20.0

# A refused connection is told at once; the second try is for a server that restarts.
TRIES_OF_UNREACHABLE = 2

FAILURES_IN_A_ROW = 10
RETRIES_OF_A_RUN = 60

# How long a run goes on without any success while it is told to slow down: once it has worked,
# longer than the minute that limits are counted by.
PATIENCE_S = 75.0
PATIENCE_AT_FIRST_S = 20.0

# The second budget of a model whose reasoning used up the first.
LARGER_BUDGET_FACTOR = 4
LARGER_BUDGET = 16_384

# Failures that do not come from the prompt: when nothing ever worked, another fares no better.
_SAME_FOR_ALL = frozenset({Kind.UNREACHABLE, Kind.SILENT, Kind.RATE})

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Timing:
    """Time and chance, for tests to put their own in place; seconds, and a number in [0, 1)."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] | None = None
    random: Callable[[], float] = random.random


class OpenAIChat:
    """A LanguageModel; safe to use from several threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout_s: float = 60.0,
        max_tries: int = 4,
        concurrency: int = 8,
        requests_per_minute: int | None = None,
        timing: Timing = Timing(),
    ) -> None:
        self._endpoint = endpoint
        self._max_tries = max_tries
        self._timing = timing
        self._closing = threading.Event()
        self._sleep = timing.sleep or self._closing.wait
        self._requests = OpenAIRequests(endpoint, timeout_s=timeout_s)
        self._dialect = LearntDialect(first_dialect(endpoint.provider))
        self._limiter = RateLimiter(
            concurrency,
            requests_per_minute=requests_per_minute,
            clock=timing.clock,
            sleep=self._sleep,
        )
        self._budget = RetryBudget(RETRIES_OF_A_RUN)
        self._first = threading.Lock()
        self._is_first_over = threading.Event()
        self._progress = RunProgress(timing.clock)

    @property
    def name(self) -> str:
        """Return the model's name, as the server knows it."""
        return self._endpoint.model

    @property
    def is_local(self) -> bool:
        """Return whether prompts stay on this machine."""
        return self._endpoint.is_local

    def complete(self, prompt: Prompt) -> Reply:
        """Return the whole reply, reasoning left out.

        Raises:
            TransientError: every try failed in a way that may pass.
            ChunkError: this prompt cannot be answered, another may.
            RunError: no prompt of this run can be answered.
        """
        return self._first_alone(lambda: self._answer(prompt, self._ask_whole))

    def stream(self, prompt: Prompt, *, on_text: Callable[[str], None]) -> Reply:
        """Call on_text with each piece as it arrives; return the whole reply.

        Raises:
            LanguageModelError: as complete; also when the stream is cut or stays empty. Once
                text was passed on, nothing is tried again.
        """
        return self._first_alone(
            lambda: self._answer(prompt, lambda asked: self._ask_streamed(asked, on_text))
        )

    def close(self) -> None:
        """End what waits or is under way; every later call is a RunError."""
        self._progress.stop(RunError("the run was stopped"))
        self._closing.set()
        self._limiter.close()
        self._requests.close()

    def _first_alone(self, call: Callable[[], _T]) -> _T:
        """Let the first call of a run find out what the server wants, before the others begin."""
        if not self._is_first_over.is_set():
            with self._first:
                if not self._is_first_over.is_set():
                    try:
                        return call()
                    finally:
                        self._is_first_over.set()
        return call()

    def _answer(self, prompt: Prompt, ask: Callable[[Prompt], Heard]) -> Reply:
        heard = ask(prompt)
        usage = usage_of(prompt, heard)
        if heard.ran_out and self._dialect.current.limit_name:
            larger = max(LARGER_BUDGET, (prompt.max_output_tokens or 0) * LARGER_BUDGET_FACTOR)
            heard = ask(replace(prompt, max_output_tokens=larger))
            usage += usage_of(prompt, heard)
        if not heard.text.strip():
            raise self._no_answer(heard)
        return Reply(heard.text, usage, heard.finish_reason)

    def _ask_whole(self, prompt: Prompt) -> Heard:
        def send(request: Sent) -> Heard:
            heard = Listener(lambda _: None)
            heard.take(self._requests.whole(request))
            return heard.finish()

        return self._patiently(lambda: put(prompt, self._dialect.current, streams=False), send)

    def _ask_streamed(self, prompt: Prompt, on_text: Callable[[str], None]) -> Heard:
        def send(request: Sent) -> Heard:
            heard = Listener(on_text)
            try:
                for piece in self._requests.streamed(request):
                    heard.take(piece)
            except RequestFailed as failed:
                if heard.has_spoken:
                    raise self._cut(failed.failure.message) from failed
                raise
            if not heard.has_ended:
                raise self._cut_at_end(heard)
            return heard.finish()

        return self._patiently(lambda: put(prompt, self._dialect.current, streams=True), send)

    def _patiently(self, build: Callable[[], Sent], send: Callable[[Sent], Heard]) -> Heard:
        """Send until there is a reply, or no sense in trying on."""
        tries = _Tries()
        while True:
            began_at = self._limiter.enter()
            try:
                self._progress.raise_if_stopped()
                request = build()
                heard = send(request)
            except RequestFailed as failed:
                wait_s = self._wait_after(failed, request, tries, began_at)
            except RunError as error:
                raise self._progress.stop(error) from error
            else:
                self._succeeded()
                return heard
            finally:
                self._limiter.leave(began_at)
            self._sleep(wait_s) if wait_s else None

    def _succeeded(self) -> None:
        self._dialect.confirm()
        self._limiter.speed_up()
        self._budget.earn()
        self._progress.succeed()

    def _wait_after(
        self, failed: RequestFailed, request: Sent, tries: _Tries, began_at: float
    ) -> float:
        """Return how long to wait before the next try, in seconds.

        Raises:
            LanguageModelError: there is no sense in a next try.
        """
        self._progress.raise_if_stopped()
        failure = failed.failure
        if self._has_learnt(failed, request):
            return 0.0
        if failure.kind is Kind.CONTEXT:
            raise ContextTooLong(failure.message, hint=failure.hint)
        if failure.kind is Kind.RUN:
            raise self._stop(failure) from failed
        if failure.kind in (Kind.CHUNK, Kind.PARAMETER):
            raise self._refused(failure) from failed
        if failure.kind is Kind.RATE or failure.wait_s is not None:
            self._limiter.slow_down(began_at, failure.wait_s)
        tries.count += 1
        if failure.kind is Kind.RATE:
            return self._wait_for_rate(failure, tries)
        return self._back_off(failure, tries)

    def _has_learnt(self, failed: RequestFailed, request: Sent) -> bool:
        kind = failed.failure.kind
        if failed.status not in REFUSING or kind is Kind.CONTEXT:
            return False
        if self._dialect.learn(request, failed.body):
            return True
        return kind is Kind.PARAMETER and self._dialect.simplify(request)

    def _wait_for_rate(self, failure: Failure, tries: _Tries) -> float:
        patience_s = PATIENCE_S if self._progress.has_succeeded else PATIENCE_AT_FIRST_S
        if tries.count >= self._max_tries and self._progress.idle_s() > patience_s:
            raise self._give_up(failure, tries)
        return 0.0  # the limiter makes all wait, this call too

    def _back_off(self, failure: Failure, tries: _Tries) -> float:
        most = self._max_tries
        if failure.kind is Kind.UNREACHABLE and not self._progress.has_succeeded:
            most = min(most, TRIES_OF_UNREACHABLE)
        if tries.count >= most or not self._budget.take():
            raise self._give_up(failure, tries)
        most_s = min(FIRST_BACKOFF_S * 2.0 ** (tries.count - 1), LONGEST_BACKOFF_S)
        return max(most_s * (0.5 + self._timing.random() / 2), failure.wait_s or 0.0)

    def _give_up(self, failure: Failure, tries: _Tries) -> TransientError | RunError:
        if failure.kind in _SAME_FOR_ALL and not self._progress.has_succeeded:
            return self._stop(failure)
        if self._progress.fail() >= FAILURES_IN_A_ROW:
            return self._stop(_too_many(failure))
        message = f"{failure.message} (tried {tries.count} times)"
        return TransientError(message, hint=failure.hint)

    def _refused(self, failure: Failure) -> ChunkError | RunError:
        if self._progress.fail() >= FAILURES_IN_A_ROW:
            return self._stop(_too_many(failure))
        return ChunkError(failure.message, hint=failure.hint)

    def _stop(self, failure: Failure) -> RunError:
        return self._progress.stop(RunError(failure.message, hint=failure.hint))

    def _cut(self, why: str) -> TransientError:
        return TransientError(f"the answer was cut: {why}", hint="ask again")

    def _cut_at_end(self, heard: Listener) -> TransientError | RequestFailed:
        url = self._endpoint.shown_url
        if heard.has_spoken:
            return self._cut(f"{url} ended the stream in the middle")
        message = f"{url} ended the stream before it began"
        return RequestFailed(Failure(Kind.TRANSIENT, message, "try again"))

    def _no_answer(self, heard: Heard) -> ChunkError:
        if heard.refusal:
            said = safe_words(heard.refusal, self._endpoint.api_key)
            return ChunkError(f"the model refused: {said}")
        if heard.finish_reason == "content_filter":
            return ChunkError("the model returned no answer (a content filter withheld it)")
        if heard.ran_out:
            return ChunkError(
                "the model returned no answer (reasoning used the whole budget)",
                hint="use a model that reasons less, or one with a larger output limit",
            )
        return ChunkError("the model returned no answer (an empty reply)", hint="try again")


@dataclass(slots=True)
class _Tries:
    count: int = 0


def _too_many(failure: Failure) -> Failure:
    message = f"{FAILURES_IN_A_ROW} requests in a row failed; the last: {failure.message}"
    return Failure(Kind.RUN, message, failure.hint)
