"""Remember how a run goes, for all its threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

from askcode.errors import RunError


class RunProgress:
    """How the run goes: when something last worked, and whether anything still can."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last_at: float | None = None
        self._failures_in_a_row = 0
        self._end: RunError | None = None
        self.has_succeeded = False

    def succeed(self) -> None:
        """Take note that a request worked."""
        with self._lock:
            self.has_succeeded = True
            self._failures_in_a_row = 0
            self._last_at = self._clock()

    def fail(self) -> int:
        """Count a request that was given up; return how many that makes in a row."""
        with self._lock:
            self._failures_in_a_row += 1
            return self._failures_in_a_row

    def idle_s(self) -> float:
        """Return the seconds since the last success, or since this was first asked."""
        with self._lock:
            if self._last_at is None:
                self._last_at = self._clock()
            return self._clock() - self._last_at

    def stop(self, error: RunError) -> RunError:
        """End the run; return the error that did so, the first one if there were several."""
        with self._lock:
            self._end = self._end or error
            return self._end

    def raise_if_stopped(self) -> None:
        """Raise the error that ended the run, if one did."""
        if self._end is not None:
            # a new one each time: an exception gathers the frames it was raised through
            raise RunError(self._end.message, hint=self._end.hint)
