"""Keep a run within what a server takes: how many requests at once, and how fast.

Additive increase, multiplicative decrease (Chiu and Jain 1989), with one pause shared by all
workers, since a server that told one of them to wait means all of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# Two in flight are enough to find out at once when a server takes requests again; one alone
# would wait for its own reply first, and lose a third of the rate at half a second a reply.
LEAST_IN_FLIGHT = 2

# Pauses after a 429 that told no time. Most limits are counted per minute: 4 s cost 7 % of
# one when the last pause begins just before it ends.
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 4.0


class RateLimiter:
    """Let requests through: at most `ceiling` at once, at most so many a minute."""

    def __init__(
        self,
        ceiling: int,
        *,
        requests_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._ceiling = max(1, ceiling)
        self._interval_s = 60 / requests_per_minute if requests_per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._turn = threading.Condition()
        self._limit = float(self._ceiling)
        self._known_good = float(self._ceiling)
        self._under_way: list[float] = []
        self._next_at = 0.0
        self._paused_until = 0.0
        self._cut_at = float("-inf")
        self._refused_in_a_row = 0
        self._is_closed = False

    @property
    def limit(self) -> int:
        """Return how many requests may be in flight at the moment."""
        return int(self._limit)

    def enter(self) -> float:
        """Wait for a turn; return the time it began, for `leave` and `slow_down`."""
        while True:
            with self._turn:
                while len(self._under_way) >= self.limit and not self._is_closed:
                    self._turn.wait()
                now = self._clock()
                wait_s = max(self._paused_until, self._next_at) - now
                if wait_s <= 0 or self._is_closed:
                    self._under_way.append(now)
                    self._next_at = max(self._next_at, now) + self._interval_s
                    return now
            self._sleep(wait_s)

    def leave(self, began_at: float) -> None:
        """Give the turn back."""
        with self._turn:
            self._under_way.remove(began_at)
            self._turn.notify_all()

    def speed_up(self) -> None:
        """Take note of a success: quickly back to what worked before, slowly beyond it."""
        with self._turn:
            self._refused_in_a_row = 0
            step = 1.0 if self._limit < self._known_good - 1 else 1.0 / self._limit
            self._limit = min(self._limit + step, float(self._ceiling))
            self._turn.notify_all()

    def slow_down(self, began_at: float, wait_s: float | None) -> None:
        """Take note of a refusal: pause all, and halve once for all that were under way.

        `wait_s` is how long the server said to wait, or None when it told no time.
        """
        with self._turn:
            if began_at >= self._cut_at:
                self._cut_at = self._clock()
                self._known_good = self._limit
                self._limit = max(self._limit / 2, self._least(began_at))
                self._refused_in_a_row += 1
            if wait_s is None:
                wait_s = FIRST_PAUSE_S * 2.0 ** min(self._refused_in_a_row - 1, 10)
                wait_s = min(wait_s, LONGEST_PAUSE_S)
            self._paused_until = max(self._paused_until, self._clock() + wait_s)

    def _least(self, refused_at: float) -> float:
        """Return how many may stay under way after a refusal of a request begun then.

        What began earlier and is not answered yet was accepted: the server limits how often
        it is asked, not how many wait. Slow replies would hold a halved limit down for ever.
        """
        accepted = sum(began_at < refused_at for began_at in self._under_way)
        return float(min(max(LEAST_IN_FLIGHT, accepted + 1), self._ceiling))

    def close(self) -> None:
        """Let everybody through who waits, so that they can end."""
        with self._turn:
            self._is_closed = True
            self._turn.notify_all()


class RetryBudget:
    """Bound the retries of a run: each costs one, each success gives half of one back.

    A server that fails now and then is retried every time; one that fails for half of the
    requests soon is not, so that a run never multiplies the load of a server in trouble.
    """

    def __init__(self, retries: int) -> None:
        self._most = float(retries)
        self._left = float(retries)
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Return whether one more retry is allowed, and pay for it."""
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
            return True

    def earn(self) -> None:
        """Give back half a retry for a success."""
        with self._lock:
            self._left = min(self._most, self._left + 0.5)
