"""The language model's adapter against a real server that misbehaves as told."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.adapters.chat_replies import ThinkingFilter
from askcode.adapters.openai_chat import OpenAIChat, Timing
from askcode.errors import (
    AskcodeError,
    ChunkError,
    ContextTooLong,
    LanguageModelError,
    RunError,
    TransientError,
)
from askcode.providers import Endpoint
from askcode.records import Prompt, Usage
from tests.scripted_server import (
    GOOD,
    HTML,
    Drop,
    Fail,
    Hang,
    Say,
    ScriptedServer,
    has_system,
    retry_after,
    slow_down,
    unless,
)

PROMPT = Prompt(system="You are terse.", user="What is it?")
BOTH = pytest.mark.parametrize("ask", ["complete", "stream"])


class Time:
    """Time that passes by itself, and by what was slept."""

    def __init__(self):
        self.slept = []

    def clock(self):
        return time.monotonic() + sum(self.slept)

    def sleep(self, seconds):
        self.slept.append(seconds)


@pytest.fixture
def passing():
    return Time()


@pytest.fixture
def chat(passing):
    """Make models whose waits take no time, and close them in the end."""
    made = []

    def make(place, **options):
        endpoint = place if isinstance(place, Endpoint) else place.endpoint()
        timing = Timing(clock=passing.clock, sleep=passing.sleep, random=lambda: 1.0)
        made.append(OpenAIChat(endpoint, timing=timing, **options))
        return made[-1]

    yield make
    for model in made:
        model.close()


def asked(model, ask, prompt=PROMPT):
    """Ask in one of the two ways; what was streamed must be the reply."""
    if ask == "complete":
        return model.complete(prompt)
    pieces = []
    reply = model.stream(prompt, on_text=pieces.append)
    assert "".join(pieces) == reply.text
    return reply


def failure_of(model, ask="complete", prompt=PROMPT):
    with pytest.raises(LanguageModelError) as caught:
        asked(model, ask, prompt)
    return caught.value


@BOTH
def test_a_reply_comes_with_the_servers_own_usage(chat, ask):
    with ScriptedServer(lambda request: Say(f"re: {request.user}")) as server:
        reply = asked(chat(server), ask)

        assert reply.text == "re: What is it?"
        assert reply.usage == Usage(1, 6, 4)
        assert reply.finish_reason == "stop"
        body = server.requests[0].body
    assert body["model"] == "fake"
    assert body["messages"] == [
        {"role": "system", "content": "You are terse."},
        {"role": "user", "content": "What is it?"},
    ]
    assert set(body) <= {"model", "messages", "stream", "stream_options"}


@BOTH
def test_tokens_are_counted_where_the_server_does_not(chat, ask):
    with ScriptedServer(lambda _: Say("hello world", reports_usage=False)) as server:
        assert asked(chat(server), ask).usage == Usage(1, 16, 2)


def test_pieces_are_passed_on_as_they_arrive(chat):
    said = Say("one two three", pieces=("one ", "two ", "three"))
    with ScriptedServer([said]) as server:
        pieces = []
        chat(server).stream(PROMPT, on_text=pieces.append)

    assert pieces == ["one ", "two ", "three"]


@BOTH
def test_text_with_any_separator_of_lines_survives(chat, ask):
    text = "a\u2028b\x85c\x0bd\r\ne"
    with ScriptedServer(lambda _: Say(text)) as server:
        assert asked(chat(server), ask).text == text


@BOTH
def test_chunks_without_choices_are_passed_over(chat, ask):
    with ScriptedServer("sse_usage") as server:
        assert asked(chat(server), ask).text == GOOD


def test_a_server_that_does_not_stream_is_understood(chat):
    body = json.dumps({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]})
    with ScriptedServer([Fail(200, body=body)]) as server:
        assert asked(chat(server), "stream").text == "whole"


@BOTH
def test_a_reply_cut_by_its_limit_says_so(chat, ask):
    with ScriptedServer("cut") as server:
        reply = asked(chat(server), ask)

    assert (reply.text, reply.finish_reason) == (GOOD[: len(GOOD) // 2], "length")


# ---- failures that may pass


@BOTH
@pytest.mark.parametrize("fault", ["500", "503html", "drop", "badjson", "429", "429date"])
def test_a_passing_failure_is_tried_again(chat, ask, fault):
    with ScriptedServer(fault, fail_first=3) as server:
        assert asked(chat(server), ask).text == GOOD
        assert len(server.requests) == 4


@BOTH
@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 504, 529])
def test_a_lasting_failure_ends_after_four_tries(chat, passing, ask, status):
    with ScriptedServer([Fail(status, "no \x1b[2J luck")]) as server:
        failure = failure_of(chat(server), ask)

        assert type(failure) is TransientError
        assert failure.message == (
            f"{server.base_url} answered {status}: no \\x1b[2J luck (tried 4 times)"
        )
        assert len(server.requests) == 4
    assert passing.slept == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (retry_after("7"), 7.0),
        (retry_after("0.25"), 0.25),
        ((("retry-after-ms", "1500"), ("Retry-After", "2")), 1.5),
        (
            (
                ("Date", "Sun, 01 Jan 2023 00:00:00 GMT"),
                *retry_after("Sun, 01 Jan 2023 00:00:09 GMT"),
            ),
            9.0,
        ),
    ],
)
def test_the_told_wait_is_kept(chat, passing, headers, seconds):
    with ScriptedServer([slow_down(headers), Say("done")]) as server:
        assert chat(server).complete(PROMPT).text == "done"

    assert sum(passing.slept) == pytest.approx(seconds, abs=0.2)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Rate limit reached. Please try again in 20s. Visit https://x/account/billing", 20),
        ("Please try again in 250ms", 0.25),
        ("Quota exceeded, check your billing. Please retry in 32.5s.", 32.5),
    ],
)
def test_a_wait_told_in_words_is_kept(chat, passing, text, seconds):
    with ScriptedServer([Fail(429, text), Say("done")]) as server:
        assert chat(server).complete(PROMPT).text == "done"

    assert sum(passing.slept) == pytest.approx(seconds, abs=0.2)


@BOTH
@pytest.mark.parametrize("fault", ["429long", "429words"])
def test_a_wait_of_more_than_a_minute_ends_the_run(chat, passing, ask, fault):
    words = Fail(429, "on requests per day: Limit 200. Please try again in 23h52m2s")
    with ScriptedServer([words] if fault == "429words" else fault) as server:
        failure = failure_of(chat(server), ask)

        assert isinstance(failure, RunError)
        assert "said to wait 24 h" in failure.message
        assert len(server.requests) == 1
    assert passing.slept == []


def test_a_server_that_only_ever_says_429_ends_the_run(chat, passing):
    with ScriptedServer("429") as server:
        failure = failure_of(chat(server))

    assert isinstance(failure, RunError)
    assert 20 < sum(passing.slept) < 30


def test_a_server_that_never_answers_ends_the_run_after_its_tries(chat):
    with ScriptedServer("hang") as server:
        failure = failure_of(chat(server, timeout_s=0.1))

        assert isinstance(failure, RunError)
        assert failure.message == f"{server.base_url} did not answer within 0.1 s"
        assert len(server.requests) == 4


def test_ten_failures_in_a_row_end_the_run(chat):
    with ScriptedServer("500") as server:
        model = chat(server)
        failures = [failure_of(model) for _ in range(11)]

        assert [type(failure) for failure in failures[:9]] == [TransientError] * 9
        assert isinstance(failures[9], RunError)
        assert failures[9].message.startswith("10 requests in a row failed; the last: http://")
        assert len(server.requests) <= 40
        assert failures[10].message == failures[9].message


def test_a_success_begins_a_new_row(chat):
    answers = {str(n): Fail(400, "odd") if n % 10 else Say() for n in range(1, 31)}
    with ScriptedServer(lambda request: answers[request.user]) as server:
        model = chat(server)
        failures = [
            failure_of(model, prompt=Prompt("", str(n)))
            for n in range(1, 31)
            if n % 10
            if n % 10 != 1 or n == 1 or model.complete(Prompt("", str(n - 1)))
        ]

    assert {type(failure) for failure in failures} == {ChunkError}


# ---- failures of the whole run


@BOTH
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("quota", "429: You exceeded your current quota (insufficient_quota)"),
        ("401", "401: Incorrect API key provided: [key] (invalid_api_key)"),
        ("403", "403: Country not supported (unsupported_country)"),
        ("404", "404: an HTML page, not JSON"),
        ("nomodel", "404: The model 'fake' does not exist (model_not_found)"),
        ("200html", "200: an HTML page, not JSON"),
    ],
)
def test_what_every_request_would_meet_ends_the_run_after_one_call(chat, ask, fault, words):
    with ScriptedServer(fault) as server:
        model = chat(server)
        failure = failure_of(model, ask)
        again = failure_of(model, ask)

        assert isinstance(failure, RunError)
        assert failure.message == f"{server.base_url} answered {words}"
        assert failure.hint
        assert (again.message, len(server.requests)) == (failure.message, 1)


@pytest.mark.parametrize(
    "answer",
    [
        Fail(400, "API key not valid. Please pass a valid API key."),
        Fail(400, "gpt-9 is not a valid model ID"),
        Fail(400, "Your credit balance is too low to access the API"),
        Fail(402, "Insufficient Balance"),
        Fail(405, "Method Not Allowed"),
        Fail(200, body=HTML),
        Fail(429, "You exceeded your current quota, please check your plan and billing details."),
        Fail(200, body='{"error": {"message": "No auth credentials found", "code": 401}}'),
        Fail(400, body='[{"error": {"code": 400, "message": "API key expired."}}]'),
    ],
    ids=lambda answer: f"{answer.status} {answer.body or answer.message}"[:50],
)
def test_other_wordings_end_the_run_too(chat, answer):
    with ScriptedServer([answer]) as server:
        assert isinstance(failure_of(chat(server)), RunError)
        assert len(server.requests) == 1


def test_many_workers_meet_a_failure_of_the_run_once(chat):
    with ScriptedServer("401") as server:
        model = chat(server)
        with ThreadPoolExecutor(8) as workers:
            failures = list(workers.map(lambda _: failure_of(model), range(20)))

        assert {type(failure) for failure in failures} == {RunError}
        assert len(server.requests) == 1


def test_nobody_listening_is_told_at_once(chat):
    started = time.monotonic()
    failure = failure_of(chat(Endpoint("http://127.0.0.1:9/v1", "x", "m")))

    assert isinstance(failure, RunError)
    assert failure.message.startswith("nobody answers at http://127.0.0.1:9/v1: ")
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "url", ["ftp://example.com/v1", "example.com/v1", "http://", "http://[x/v1", "", "http://a:b/"]
)
def test_what_is_no_url_is_told(chat, url):
    failure = failure_of(chat(Endpoint(url, "x", "m")))

    assert isinstance(failure, RunError)
    assert failure.message.endswith("is not an http or https URL")


@pytest.mark.parametrize("url_end", ["", "/"])
def test_a_url_without_v1_gets_the_hint(chat, url_end):
    with ScriptedServer("404") as server:
        url = server.base_url.removesuffix("/v1")
        failure = failure_of(chat(Endpoint(url + url_end, "x", "m")))

    assert f"({url}/v1)" in failure.hint


# ---- keys


@pytest.mark.parametrize(
    "echo",
    [
        "Incorrect API key provided: sk-LEAK-CHECK-0123456789.",
        "Incorrect API key provided: sk-LEAK-******6789.",
        "Incorrect API key provided: sk-LEA...6789",
        "bad key ending in 6789: ••••6789",
        "Unknown token LEAK-CHECK",
    ],
)
def test_no_part_of_the_key_is_repeated(chat, echo):
    with ScriptedServer([Fail(401, echo)]) as server:
        place = server.endpoint(api_key="sk-LEAK-CHECK-0123456789")
        failure = failure_of(chat(place))

    assert "LEA" not in failure.message
    assert "[key]" in failure.message


def test_a_place_holder_of_a_key_spoils_no_message(chat):
    with ScriptedServer([Fail(401, "expected another key")]) as server:
        assert failure_of(chat(server.endpoint(api_key="e"))).message.endswith(
            "expected another key"
        )


def test_no_key_is_needed(chat):
    with ScriptedServer() as server:
        assert chat(server.endpoint(api_key="")).complete(PROMPT).text == GOOD


@pytest.mark.parametrize("key", ["sk-\n123456", "sk-ключ", "two words"])
def test_a_key_that_no_header_can_carry_is_told_without_showing_it(chat, key):
    failure = failure_of(chat(Endpoint("http://127.0.0.1:9/v1", key, "m")))

    assert failure.message == "the key has characters that no key has"


def test_passwords_in_the_url_are_not_shown(chat):
    with ScriptedServer("404") as server:
        url = f"http://me:secret@127.0.0.1:{server.port}/v1?token=secret"
        failure = failure_of(chat(Endpoint(url, "x", "m")))

    assert "secret" not in failure.message + failure.hint


# ---- failures of one request


@BOTH
@pytest.mark.parametrize(
    "answer",
    [
        Fail(400, "This model's maximum context length is 4096 tokens.", "context_length_exceeded"),
        Fail(400, "request (6031 tokens) exceeds the available context size (4096 tokens)"),
        Fail(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        Fail(400, "The input token count (1200000) exceeds the maximum number of tokens allowed"),
        Fail(413, "Request Entity Too Large"),
        Fail(429, "Request too large for gpt-x on tokens per min (TPM): Limit 10, Requested 12"),
        Fail(500, "the request exceeds the available context size"),
        Fail(422, "inputs tokens + max_new_tokens must be <= 4096. Given: 9000 inputs tokens"),
    ],
    ids=lambda answer: answer.message[:40] if isinstance(answer, Fail) else answer,
)
def test_a_request_that_is_too_long_is_not_sent_again(chat, ask, answer):
    with ScriptedServer([answer]) as server:
        failure = failure_of(chat(server), ask)

        assert isinstance(failure, ContextTooLong)
        assert failure.message.startswith("the context does not fit: ")
        assert len(server.requests) == 1


@BOTH
@pytest.mark.parametrize("fault", ["nochoices", "nullchoices", "nullcontent", "empty", "blank"])
def test_an_empty_reply_fails_this_request_only(chat, ask, fault):
    with ScriptedServer(fault, fail_first=1) as server:
        model = chat(server)
        failure = failure_of(model, ask)

        assert type(failure) is ChunkError
        assert failure.message == "the model returned no answer (an empty reply)"
        assert asked(model, ask).text == GOOD


@BOTH
def test_reasoning_that_used_the_whole_budget_gets_a_larger_one_once(chat, ask):
    with ScriptedServer("reason") as server:
        failure = failure_of(chat(server), ask)

        assert type(failure) is ChunkError
        assert failure.message == "the model returned no answer (reasoning used the whole budget)"
        assert [r.body.get("max_completion_tokens") for r in server.requests] == [None, 16384]


@BOTH
def test_the_answer_after_the_larger_budget_counts_both_calls(chat, ask):
    with ScriptedServer("reason", fail_first=1) as server:
        reply = asked(chat(server), ask)

    assert reply.text == GOOD
    assert reply.usage.calls == 2


@BOTH
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>\nHm. Well.\n</think>\n\nIt is 4.", "It is 4."),
        ("  <think></think>4", "4"),
        ("The tag <think> opens a block.", "The tag <think> opens a block."),
        ("<thin ice>", "<thin ice>"),
        ("<th", "<th"),
    ],
)
def test_thoughts_are_not_the_answer(chat, ask, text, answer):
    with ScriptedServer(lambda _: Say(text)) as server:
        assert asked(chat(server), ask).text == answer


@given(st.text("<think>/ a\n", max_size=40), st.integers(1, 5))
def test_pieces_make_no_difference_to_thoughts(text, size):
    text = text if size % 2 else f"<think>{text}</think> end"

    def filtered(pieces):
        thoughts = ThinkingFilter()
        return "".join([thoughts.feed(piece) for piece in pieces] + [thoughts.finish()])

    assert filtered(text[at : at + size] for at in range(0, len(text), size)) == filtered([text])


def test_a_filter_and_a_refusal_are_named(chat):
    refusal = {"choices": [{"message": {"content": None, "refusal": "I can't."}}]}
    with ScriptedServer(["filter", Fail(200, body=json.dumps(refusal))][1:]) as server:
        assert failure_of(chat(server)).message == "the model refused: I can't."
    with ScriptedServer("filter") as server:
        assert "content filter" in failure_of(chat(server)).message
    with ScriptedServer([Fail(400, "flagged by content management policy")]) as server:
        assert type(failure_of(chat(server))) is ChunkError


# ---- streams that break


def test_a_stream_cut_in_the_middle_is_not_asked_again(chat):
    with ScriptedServer("cutstream") as server:
        pieces = []
        with pytest.raises(TransientError, match="the answer was cut"):
            chat(server).stream(PROMPT, on_text=pieces.append)

        assert "".join(pieces) == GOOD[:14]
        assert len(server.requests) == 1


def test_a_stream_that_ends_before_it_began_is_asked_again(chat):
    with ScriptedServer([Say(cut_after=0), Say(cut_after=1), Say("whole")]) as server:
        assert asked(chat(server), "stream").text == "whole"


def test_a_stream_needs_only_one_mark_of_its_end(chat):
    with ScriptedServer([Say("a", finish=None), Say("b", ends_with_done=False)]) as server:
        model = chat(server)

        assert [asked(model, "stream").text for _ in range(2)] == ["a", "b"]


def test_a_reader_that_is_gone_ends_the_stream(chat):
    def gone(_):
        raise BrokenPipeError

    with ScriptedServer() as server, pytest.raises(BrokenPipeError):
        chat(server).stream(PROMPT, on_text=gone)


# ---- what servers do not understand


@pytest.mark.parametrize(
    ("fault", "provider"),
    [
        ("maxtok", "llamacpp"),
        ("nomaxc", "openai"),
        ("notemp", "openai"),
        ("nosys", "openai"),
        ("nofmt", "openai"),
    ],
)
@BOTH
def test_a_difference_costs_one_call_in_a_run(chat, ask, fault, provider):
    prompt = Prompt("You are terse.", "What is it?", max_output_tokens=50)
    with ScriptedServer(fault) as server:
        model = chat(Endpoint(server.base_url, "x", "m", provider))
        asked(model, ask, prompt)
        with ThreadPoolExecutor(8) as workers:
            replies = list(workers.map(lambda _: asked(model, ask, prompt), range(12)))

        assert {reply.text for reply in replies} == {GOOD}
        assert len(server.requests) <= 14


def test_the_first_request_finds_out_alone(chat):
    with ScriptedServer("nosys") as server:
        model = chat(server)
        with ThreadPoolExecutor(8) as workers:
            list(workers.map(lambda _: model.complete(PROMPT), range(16)))

        assert len(server.requests) == 17
        assert server.requests[-1].user == "You are terse.\n\nWhat is it?"


def test_stream_options_are_left_out_where_they_are_refused(chat):
    with ScriptedServer("nostreamopts") as server:
        model = chat(server)
        asked(model, "stream")
        asked(model, "stream")

        assert ["stream_options" in r.body for r in server.requests] == [True, False, False]


def test_a_refusal_that_names_nothing_is_met_with_the_plainest_request(chat):
    script = unless(lambda body: "stream_options" in body, "Bad request")
    with ScriptedServer(script) as server:
        assert asked(chat(server), "stream").text == GOOD
        assert len(server.requests) == 2


def test_several_differences_are_learnt_one_by_one(chat):
    def picky(request):
        for name in ("stream_options", "max_completion_tokens", "max_tokens"):
            if name in request.body:
                detail = [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]
                return Fail(422, body=json.dumps({"detail": detail}))
        if has_system(request.body):
            return Fail(500, "Conversation roles must alternate user/assistant/...")
        return Say()

    with ScriptedServer(picky) as server:
        model = chat(server)
        asked(model, "stream", Prompt("s", "u", 10))
        asked(model, "stream", Prompt("s", "u", 10))

        assert len(server.requests) == 6


def test_a_limit_that_is_too_large_is_left_out(chat):
    script = unless(lambda body: "max_completion_tokens" in body, "max_tokens is too large: 99999")
    with ScriptedServer(script) as server:
        assert chat(server).complete(Prompt("", "u", 99999)).text == GOOD
        assert len(server.requests) == 2


def test_names_that_are_not_unicode_are_sent_with_a_place_holder(chat):
    with ScriptedServer() as server:
        chat(server).complete(Prompt("", "caf\udce9.py {{ 7*7 }}"))

        assert server.requests[0].user == "caf?.py {{ 7*7 }}"


# ---- the machine around


def test_a_proxy_is_not_asked_for_this_machine(chat, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with ScriptedServer() as server:
        assert chat(server).complete(PROMPT).text == GOOD


@pytest.mark.parametrize("proxy", ["nonsense://x", "socks5://127.0.0.1:9", "http://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_told(chat, monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)

    failure = failure_of(chat(Endpoint("http://model.example/v1", "x", "m")))

    assert isinstance(failure, RunError)


def test_closing_ends_what_waits(passing):
    with ScriptedServer([slow_down(retry_after("50"))]) as server:
        model = OpenAIChat(server.endpoint())
        failures = []
        waiting = threading.Thread(target=lambda: failures.append(failure_of(model)))
        waiting.start()
        while not server.requests:
            time.sleep(0.01)

        model.close()
        waiting.join(5)

    assert [failure.message for failure in failures] == ["the run was stopped"]


def test_an_answer_of_an_earlier_mode_does_not_end_later_requests(chat):
    with ScriptedServer([Say("a"), Hang(), Drop(), Say("b")]) as server:
        model = chat(server, timeout_s=0.2)

        assert [model.complete(PROMPT).text for _ in range(2)] == ["a", "b"]


def test_what_an_endpoint_is_called(chat):
    model = chat(Endpoint("http://localhost:1/v1", "", "qwen"))

    assert (model.name, model.is_local) == ("qwen", True)
    assert issubclass(RunError, AskcodeError)
