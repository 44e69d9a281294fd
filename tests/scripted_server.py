"""A loopback server that speaks the OpenAI protocol as a script tells it to.

In a test, the script is the name of a fault, a list of replies, or a function:

    with ScriptedServer("429", fail_first=3) as server: ...
    with ScriptedServer([Say("one"), Fail(500), Say("two")]) as server: ...
    with ScriptedServer(lambda request: Say(request.user.upper())) as server:
        OpenAIChat(server.endpoint()); server.requests[0].body

From a shell: python -m tests.scripted_server --mode ok --port 0 --log FILE
It prints its base URL, and writes one JSON object a request to the log.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from askcode.providers import Endpoint

GOOD = (
    "Q1: What does this chunk do?\nA1: It returns a value.\n"
    "Q2: When does it run?\nA2: When it is called."
)
HTML = "<!DOCTYPE html><html><title>Sign in</title></html>"


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    number: int
    """1 for the first."""
    at: float
    """time.monotonic() of its arrival."""
    path: str
    headers: dict[str, str]
    body: dict

    def text_of(self, role: str) -> str:
        return "\n".join(
            message["content"] for message in self.body["messages"] if message["role"] == role
        )

    @property
    def system(self) -> str:
        return self.text_of("system")

    @property
    def user(self) -> str:
        return self.text_of("user")

    @property
    def wants_stream(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass(frozen=True)
class Say:
    """Answer with a text, whole or streamed in pieces, as the client asked."""

    text: str | None = GOOD
    finish: str | None = "stop"
    reasoning: str | None = None
    pieces: tuple[str, ...] | None = None
    """How a stream is cut; pieces of seven characters when None."""
    pause_s: float = 0.0
    """Waits before the reply, and between the pieces of a stream."""
    cut_after: int | None = None
    """Close a stream without an end after so many pieces."""
    ends_with_done: bool = True
    reports_usage: bool = True
    empty_choices_around: bool = False
    """Begin a stream with a chunk without choices."""


@dataclass(frozen=True)
class Fail:
    """Answer with a status; the body is an OpenAI error unless it is given."""

    status: int
    message: str = "boom"
    code: str | None = None
    type: str = "invalid_request_error"
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    content_type: str = "application/json"


@dataclass(frozen=True)
class Hang:
    """Never answer."""


@dataclass(frozen=True)
class Drop:
    """Close the connection without an answer."""


Answer = Say | Fail | Hang | Drop
Script = Callable[[Request], Answer | str]


def unless(is_bad: Callable[[dict], bool], message: str, code: str | None = None) -> Script:
    """Answer well unless the body is bad: then with a 400."""
    return lambda request: Fail(400, message, code) if is_bad(request.body) else Say()


def retry_after(value: str) -> tuple[tuple[str, str], ...]:
    return (("Retry-After", value),)


def slow_down(headers: tuple[tuple[str, str], ...] = ()) -> Fail:
    return Fail(429, "slow down", "rate_limit_exceeded", "requests", headers)


def has_system(body: dict) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


MODES: dict[str, Script] = {
    "ok": lambda _: Say(),
    "429": lambda _: slow_down(retry_after("1")),
    "429date": lambda _: slow_down(retry_after(formatdate(time.time() + 2, usegmt=True))),
    "429long": lambda _: slow_down(retry_after("86400")),
    "429bare": lambda _: slow_down(),
    "quota": lambda _: Fail(
        429, "You exceeded your current quota", "insufficient_quota", "insufficient_quota"
    ),
    "500": lambda _: Fail(500, "boom", None, "server_error"),
    "503html": lambda _: Fail(503, body=HTML, content_type="text/html"),
    "401": lambda _: Fail(401, "Incorrect API key provided: sk-FA*KE", "invalid_api_key"),
    "403": lambda _: Fail(403, "Country not supported", "unsupported_country"),
    "404": lambda _: Fail(404, body=HTML, content_type="text/html"),
    "nomodel": lambda request: Fail(
        404, f"The model {request.body['model']!r} does not exist", "model_not_found"
    ),
    "200html": lambda _: Fail(200, body=HTML, content_type="text/html"),
    "badjson": lambda _: Fail(200, body='{"choices": ['),
    "hang": lambda _: Hang(),
    "drop": lambda _: Drop(),
    "ctx": lambda _: Fail(
        400,
        "This model's maximum context length is 4096 tokens. "
        "However, your messages resulted in 9000 tokens.",
        "context_length_exceeded",
    ),
    "maxtok": unless(
        lambda body: "max_tokens" in body,
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "unsupported_parameter",
    ),
    "nomaxc": unless(
        lambda body: "max_completion_tokens" in body,
        "Extra inputs are not permitted: max_completion_tokens",
    ),
    "notemp": unless(
        lambda body: body.get("temperature", 1) != 1,
        "Unsupported value: 'temperature' does not support this value with this model.",
        "unsupported_value",
    ),
    "nosys": unless(has_system, "System role not supported"),
    "nostreamopts": unless(
        lambda body: "stream_options" in body, "Unknown field: stream_options", None
    ),
    "nofmt": unless(lambda body: "response_format" in body, "response_format is not supported"),
    "nochoices": lambda _: Fail(200, body=json.dumps({"id": "x", "choices": []})),
    "nullchoices": lambda _: Fail(200, body=json.dumps({"id": "x", "choices": None})),
    "nullcontent": lambda _: Say(None),
    "empty": lambda _: Say(""),
    "blank": lambda _: Say(" \n\n "),
    "reason": lambda _: Say("", "length", "I think about it at length."),
    "filter": lambda _: Say("", "content_filter"),
    "fence": lambda _: Say(f"```text\n{GOOD}\n```"),
    "prose": lambda _: Say(f"Sure! Here you go:\n{GOOD}\nHope this helps."),
    "trail": lambda _: Say(f"{GOOD}\nQ3:\nA3:\n"),
    "cut": lambda _: Say(GOOD[: len(GOOD) // 2], "length"),
    "cutstream": lambda _: Say(cut_after=3),
    "notlist": lambda _: Say(json.dumps([{"question": "What is it?", "answer": "A value."}])),
    "types": lambda _: Say("Q1:\nA1: 7\nx\nQ2: \nA2:"),
    "ansi": lambda _: Say("\x1b[2J\x1b]0;owned\x07done \x9b31m\u202e"),
    "sse_usage": lambda _: Say(empty_choices_around=True),
    "think": lambda _: Say(f"<think>\nLet me see.\n</think>\n\n{GOOD}"),
}


def slow(delay_s: float) -> Script:
    return lambda _: Say(pause_s=delay_s)


class RateLimited:
    """Answer well so many times in any window, and with 429 beyond.

    `retry_after_s` is what is told: "exact", a number, or None for nothing.
    """

    def __init__(
        self,
        requests: int,
        window_s: float,
        *,
        retry_after_s: str | float | None = "exact",
        say: Say = Say(),
    ) -> None:
        self.requests, self.window_s, self.told, self.say = requests, window_s, retry_after_s, say
        self.accepted: deque[float] = deque()
        self.refused = 0
        self.lock = threading.Lock()

    def __call__(self, request: Request) -> Answer:
        with self.lock:
            while self.accepted and self.accepted[0] <= request.at - self.window_s:
                self.accepted.popleft()
            if len(self.accepted) < self.requests:
                self.accepted.append(request.at)
                return self.say
            self.refused += 1
            wait_s = self.accepted[0] + self.window_s - request.at
        if self.told is None:
            return slow_down()
        if self.told == "exact":
            return slow_down((("retry-after-ms", str(int(wait_s * 1000) + 1)),))
        return slow_down(retry_after(str(self.told)))


def count_words(text: str) -> int:
    return len(text.split())


@dataclass
class Counted:
    """What the server counted in its good replies."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass
class ScriptedServer:
    """Serve a script on a free loopback port while the context lasts."""

    script: str | Sequence[Answer | str] | Script = "ok"
    fail_first: int = 0
    """Only so many requests meet the script; those after it get a good reply (0: all meet it)."""
    count: Callable[[str], int] = count_words
    """How tokens of a text are counted for `usage`."""
    embedding_dim: int = 8
    embedding_script: Script | None = None
    """What meets requests for embeddings; None gives each text a vector of its own."""
    port: int = 0
    log: str | None = None
    requests: list[Request] = field(default_factory=list)
    """Chat requests, in order of arrival; refused ones too."""
    embedding_requests: list[Request] = field(default_factory=list)
    usage: Counted = field(default_factory=Counted)

    def __enter__(self) -> ScriptedServer:
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._http = _Http(("127.0.0.1", self.port), type("Handler", (_Handler,), {"owner": self}))
        self.port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # the other side was faster
                    continue
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def endpoint(self, model: str = "fake", api_key: str = "sk-FAKE") -> Endpoint:
        return Endpoint(base_url=self.base_url, api_key=api_key, model=model)

    def _record(self, path: str, headers: dict[str, str], body: dict) -> Request:
        kept = self.embedding_requests if path.endswith("/embeddings") else self.requests
        with self._lock:
            request = Request(len(kept) + 1, time.monotonic(), path, headers, body)
            kept.append(request)
            if self.log:
                line = {"n": request.number, "t": time.time(), "path": path, "body": body}
                with open(self.log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        return request

    def _answer(self, request: Request) -> Answer:
        if self.fail_first and request.number > self.fail_first:
            return Say()
        if isinstance(self.script, str):
            answer = MODES[self.script](request)
        elif callable(self.script):
            answer = self.script(request)
        else:  # the last one is repeated
            answer = self.script[min(request.number, len(self.script)) - 1]
        return Say(answer) if isinstance(answer, str) else answer

    def _usage(self, body: dict, text: str) -> dict[str, int]:
        sent = sum(self.count(message["content"]) for message in body["messages"])
        got = self.count(text)
        with self._lock:
            self.usage.calls += 1
            self.usage.input_tokens += sent
            self.usage.output_tokens += got
        return {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}

    def _wait(self, seconds: float) -> None:
        self._stopping.wait(seconds)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is part of the script."""


def vector_of(text: str, dim: int) -> list[float]:
    """Return numbers in [-1, 1) that only the text decides."""
    data = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(2 * dim)
    return [int.from_bytes(data[at : at + 2], "big") / 32768 - 1 for at in range(0, 2 * dim, 2)]


class _Handler(BaseHTTPRequestHandler):
    owner: ScriptedServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        with self.owner._lock:
            self.owner._open.add(self.connection)

    def finish(self) -> None:
        with self.owner._lock:
            self.owner._open.discard(self.connection)
        super().finish()

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.send(200, json.dumps({"object": "list", "data": [{"id": "fake"}]}))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = self.owner._record(self.path, headers, json.loads(raw))
        if self.path.endswith("/embeddings"):
            if self.owner.embedding_script:
                return self.play(self.owner.embedding_script(request), request)
            return self.embed(request)
        return self.play(self.owner._answer(request), request)

    def play(self, answer: Answer, request: Request) -> None:
        if isinstance(answer, Say):
            (self.stream if request.wants_stream else self.reply)(answer, request)
        elif isinstance(answer, Fail):
            error = {"message": answer.message, "type": answer.type, "code": answer.code}
            body = answer.body if answer.body is not None else json.dumps({"error": error})
            self.send(answer.status, body, answer.content_type, answer.headers)
        else:
            if isinstance(answer, Hang):
                self.owner._wait(3600)
            self.close_connection = True

    def send(self, status: int, body: str, kind: str = "application/json", headers=()) -> None:
        data = body.encode()
        own_date = any(name == "Date" for name, _ in headers)
        (self.send_response_only if own_date else self.send_response)(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def reply(self, say: Say, request: Request) -> None:
        self.owner._wait(say.pause_s)
        message = {"role": "assistant", "content": say.text}
        if say.reasoning is not None:
            message["reasoning_content"] = say.reasoning
        choice = {"index": 0, "finish_reason": say.finish, "message": message}
        whole = {"id": "x", "object": "chat.completion", "created": 1, "choices": [choice]}
        whole["model"] = request.body.get("model", "fake")
        usage = self.owner._usage(request.body, say.text or "")
        self.send(200, json.dumps(whole | ({"usage": usage} if say.reports_usage else {})))

    def stream(self, say: Say, request: Request) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        usage = self.owner._usage(request.body, say.text or "")
        if say.empty_choices_around:
            self.event(choices=[])
        for number, delta in enumerate(deltas_of(say)):
            if number == say.cut_after:
                return
            self.owner._wait(say.pause_s)
            self.event([{"index": 0, "delta": delta, "finish_reason": None}])
        if say.finish:
            self.event([{"index": 0, "delta": {}, "finish_reason": say.finish}])
        asked = (request.body.get("stream_options") or {}).get("include_usage")
        if say.empty_choices_around or (asked and say.reports_usage):
            self.event([], usage=usage)
        if say.ends_with_done:
            self.wfile.write(b"data: [DONE]\n\n")

    def event(self, choices: list, **more: object) -> None:
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
        data = json.dumps(chunk | {"choices": choices} | more)
        self.wfile.write(b"data: " + data.encode() + b"\n\n")
        self.wfile.flush()

    def embed(self, request: Request) -> None:
        texts = request.body["input"]
        texts = [texts] if isinstance(texts, str) else texts
        dim = request.body.get("dimensions") or self.owner.embedding_dim
        data = [
            {"object": "embedding", "index": at, "embedding": vector_of(text, dim)}
            for at, text in enumerate(texts)
        ]
        whole = {"object": "list", "model": request.body.get("model"), "data": data}
        tokens = sum(map(self.owner.count, texts))
        whole["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
        self.send(200, json.dumps(whole))


def deltas_of(say: Say) -> list[dict]:
    """Return what a stream sends: the reasoning first, then the text in pieces."""
    text = say.text or ""
    pieces = say.pieces or [text[at : at + 7] for at in range(0, len(text), 7)]
    deltas: list[dict] = [{"role": "assistant", "content": say.text and ""}]
    if say.reasoning is not None:
        deltas.append({"reasoning_content": say.reasoning})
    return deltas + [{"content": piece} for piece in pieces]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mode", default="ok", choices=[*MODES, "slow", "limited"])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log")
    parser.add_argument("--reply", help="a file with the text of a good reply (mode ok)")
    parser.add_argument("--fail-first", type=int, default=0)
    parser.add_argument("--delay", type=float, default=5)
    parser.add_argument("--limit", type=int, default=60, help="requests a window (mode limited)")
    parser.add_argument("--window", type=float, default=60, help="seconds (mode limited)")
    given = parser.parse_args()
    script: str | Script = given.mode
    if given.mode == "slow":
        script = slow(given.delay)
    elif given.mode == "limited":
        script = RateLimited(given.limit, given.window)
    elif given.reply:
        with open(given.reply, encoding="utf-8") as file:
            text = file.read()
        script = lambda _: Say(text)  # noqa: E731
    with ScriptedServer(script, given.fail_first, port=given.port, log=given.log) as server:
        print(server.base_url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
