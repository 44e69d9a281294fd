"""How many requests at once, and how fast."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from askcode.adapters.openai_chat import OpenAIChat
from askcode.adapters.rate_limiting import RateLimiter, RetryBudget
from askcode.records import Prompt
from tests.scripted_server import RateLimited, Say, ScriptedServer


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 100.0
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def limiter(clock, ceiling=8, **more):
    return RateLimiter(ceiling, clock=clock, sleep=clock.sleep, **more)


def test_requests_of_one_congestion_halve_the_limit_once(clock):
    limits = limiter(clock)
    began = [limits.enter() for _ in range(8)]
    clock.now += 0.1

    for at in began:
        limits.slow_down(at, 1.0)

    assert limits.limit == 4


def test_the_limit_never_falls_below_two(clock):
    limits = limiter(clock)

    for _ in range(6):
        at = limits.enter()
        limits.slow_down(at, 1.0)
        limits.leave(at)

    assert limits.limit == 2


def test_one_request_at_a_time_stays_one(clock):
    limits = limiter(clock, ceiling=1)

    limits.slow_down(limits.enter(), 1.0)

    assert limits.limit == 1


def test_what_the_server_accepted_stays_under_way(clock):
    limits = limiter(clock)
    for _ in range(5):
        limits.enter()
        clock.now += 1

    limits.slow_down(limits.enter(), 1.0)

    assert limits.limit == 6


def test_successes_bring_the_limit_back_to_its_ceiling_and_not_beyond(clock):
    limits = limiter(clock)
    at = limits.enter()
    limits.slow_down(at, 1.0)
    seen = []

    for _ in range(40):
        limits.speed_up()
        seen.append(limits.limit)

    assert seen[:4] == [5, 6, 7, 7]
    assert seen[-1] == 8


def test_all_wait_for_as_long_as_one_was_told(clock):
    limits = limiter(clock)
    limits.slow_down(limits.enter(), 30.0)

    limits.enter()

    assert clock.slept == [30.0]


def test_pauses_without_a_told_time_double_up_to_four_seconds(clock):
    limits = limiter(clock)

    for _ in range(6):
        at = limits.enter()
        limits.slow_down(at, None)
        limits.leave(at)

    assert clock.slept == [0.5, 1.0, 2.0, 4.0, 4.0]


def test_requests_per_minute_are_spread_evenly(clock):
    limits = limiter(clock, requests_per_minute=120)

    times = []
    for _ in range(4):
        times.append(limits.enter() - 100.0)
        limits.leave(times[-1] + 100.0)

    assert times == [0.0, 0.5, 1.0, 1.5]


def test_at_most_the_ceiling_is_under_way():
    limits = RateLimiter(2)
    first, _ = limits.enter(), limits.enter()
    entered = threading.Event()
    waiting = threading.Thread(target=lambda: (limits.enter(), entered.set()))
    waiting.start()

    was_held = not entered.wait(0.1)
    limits.leave(first)
    waiting.join(5)

    assert was_held
    assert entered.is_set()


def test_closing_lets_everybody_through():
    limits = RateLimiter(1)
    limits.enter()
    waiting = threading.Thread(target=limits.enter)
    waiting.start()

    limits.close()
    waiting.join(5)

    assert not waiting.is_alive()


def test_a_retry_budget_is_spent_by_retries_and_earned_by_successes():
    budget = RetryBudget(2)

    spent = [budget.take(), budget.take(), budget.take()]
    budget.earn()
    too_little = budget.take()
    budget.earn()

    assert (spent, too_little, budget.take()) == ([True, True, False], False, True)


@pytest.mark.slow
@pytest.mark.parametrize("told", ["exact", "0.1"])
def test_a_server_that_limits_its_rate_is_used_to_nine_tenths(told):
    # 60 a minute, with the minute and the number scaled down: 20 in 3 s
    window_s, requests = 3.0, 50
    script = RateLimited(20, window_s, retry_after_s=told, say=Say(pause_s=0.02))
    with ScriptedServer(script) as server:
        model = OpenAIChat(server.endpoint(), concurrency=8)

        with ThreadPoolExecutor(8) as workers:
            replies = list(workers.map(model.complete, [Prompt("", "hello")] * requests))
        model.close()

        seconds = server.requests[-1].at - server.requests[0].at
    # 20 at once, 20 when these are a window old, and the rest after one more window
    assert len(replies) == requests
    assert script.refused > 0
    assert 2 * window_s / seconds >= 0.9


def test_a_blackout_without_a_told_time_fails_no_request():
    script = RateLimited(5, 0.7, retry_after_s=None)
    with ScriptedServer(script) as server:
        model = OpenAIChat(server.endpoint(), concurrency=4)

        with ThreadPoolExecutor(4) as workers:
            replies = list(workers.map(model.complete, [Prompt("", "hello")] * 9))
        model.close()

    assert len(replies) == 9
    assert script.refused > 0
