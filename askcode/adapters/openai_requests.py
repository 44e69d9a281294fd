"""Send single requests through the openai client; every failure becomes one of our own."""

from __future__ import annotations

import json
import re
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from askcode.adapters.chat_dialects import Sent
from askcode.adapters.chat_replies import NotJson, Piece, parse_event, parse_reply, stream_events
from askcode.adapters.openai_errors import (
    Failure,
    Kind,
    Refusal,
    message_of,
    read_refusal,
    safe_words,
    url_hint,
)
from askcode.errors import RunError
from askcode.providers import Endpoint

if TYPE_CHECKING:
    import openai

# A server on this planet takes a connection within this time, or is not there.
CONNECT_TIMEOUT_S = 10.0

# The header may not be empty, and local servers ask for no key.
NO_KEY = "none"


class RequestFailed(Exception):
    """Carry a failure to where it is decided what to do next."""

    def __init__(self, failure: Failure, *, status: int = 0, body: str = "") -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.status = status
        self.body = body


class OpenAIRequests:
    """One endpoint, asked one request at a time; safe to use from several threads."""

    def __init__(self, endpoint: Endpoint, *, timeout_s: float) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None

    def whole(self, request: Sent) -> Piece:
        """Return the reply to a request.

        Raises:
            RequestFailed: there was none.
            RunError: the endpoint's URL or key cannot be used at all.
        """
        with self._failures_told():
            answer = self._connected().chat.completions.with_raw_response.create(
                **self._arguments(request)
            )
            return self._read_whole(_Received(answer.status_code, answer.headers, answer.text))

    def streamed(self, request: Sent) -> Iterator[Piece | None]:
        """Yield the pieces of a streamed reply as they arrive; None is the mark of its end.

        Raises:
            RequestFailed: the reply did not begin, or broke off.
            RunError: as `whole`.
        """
        with (
            self._failures_told(),
            self._connected().chat.completions.with_streaming_response.create(
                **self._arguments(request), stream=True
            ) as answer,
        ):
            if "text/event-stream" not in answer.headers.get("content-type", ""):
                body = answer.read().decode("utf-8", "replace")
                # a server that does not stream sends the whole reply at once
                yield self._read_whole(_Received(answer.status_code, answer.headers, body))
                yield None
                return
            for event in stream_events(answer.iter_bytes()):
                yield None if event is None else self._read_event(event)

    def embedded(self, texts: list[str]) -> str:
        """Return the body of the reply to texts that were sent to be embedded.

        Raises:
            RequestFailed: there was none.
            RunError: as `whole`.
        """
        with self._failures_told():
            answer = self._connected().embeddings.with_raw_response.create(
                model=self._endpoint.model, input=texts, encoding_format="float"
            )
            refusal = Refusal(answer.status_code, answer.text, answer.headers)
            if refusal.is_html:
                raise self._refused(refusal)
            return refusal.body

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()

    def _connected(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                self._client = _connect(self._endpoint, self._timeout_s)
                # whoever lets go of this without closing it leaves no connection open
                weakref.finalize(self, self._client.close)
            return self._client

    def _arguments(self, request: Sent) -> dict[str, Any]:
        return {
            "model": self._endpoint.model,
            "messages": request.messages,
            "extra_body": request.options or None,
        }

    def _read_whole(self, received: _Received) -> Piece:
        refusal = Refusal(received.status, received.body, received.headers)
        if refusal.is_html:
            raise self._refused(refusal)
        try:
            piece, data = parse_reply(received.body)
        except NotJson as error:
            raise RequestFailed(self._not_json(refusal)) from error
        if data.get("error") and not data.get("choices"):
            raise self._refused(refusal)
        return piece

    def _read_event(self, event: dict[str, Any]) -> Piece:
        if event.get("error"):
            raise self._refused(Refusal(200, json.dumps(event), {}))
        return parse_event(event)

    def _refused(self, refusal: Refusal) -> RequestFailed:
        failure = read_refusal(refusal, self._endpoint)
        return RequestFailed(failure, status=refusal.status, body=refusal.body)

    def _not_json(self, refusal: Refusal) -> Failure:
        says = message_of(refusal, self._endpoint)
        return Failure(Kind.TRANSIENT, f"{says} (not JSON)", url_hint(self._endpoint))

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            answer = error.response
            raise self._refused(Refusal(answer.status_code, answer.text, answer.headers)) from error
        except openai.APIConnectionError as error:
            raise RequestFailed(self._broken(error.__cause__ or error)) from error
        except _transport_errors() as error:
            raise RequestFailed(self._broken(error)) from error
        except NotJson as error:
            url = self._endpoint.shown_url
            raise RequestFailed(
                Failure(Kind.TRANSIENT, f"{url} sent a stream that is cut (not JSON)")
            ) from error

    def _broken(self, error: BaseException) -> Failure:
        """Return what a failure below HTTP means."""
        url, http = self._endpoint.shown_url, _http_library()
        said = safe_words(str(error), self._endpoint.api_key) or type(error).__name__
        if isinstance(error, (http.ConnectError, http.ConnectTimeout, http.ProxyError)):
            hint = f"is the server running? {url_hint(self._endpoint)}"
            return Failure(Kind.UNREACHABLE, f"nobody answers at {url}: {said}", hint)
        if isinstance(error, http.TimeoutException):
            told = f"{url} did not answer within {self._timeout_s:g} s"
            return Failure(Kind.SILENT, told, "raise --timeout, or look at the server")
        if isinstance(error, (http.UnsupportedProtocol, http.TooManyRedirects, http.InvalidURL)):
            return Failure(Kind.RUN, f"{url} cannot be asked: {said}", url_hint(self._endpoint))
        return Failure(Kind.TRANSIENT, f"the connection to {url} broke: {said}", "try again")


class _Received:
    def __init__(self, status: int, headers: Any, body: str) -> None:
        self.status, self.headers, self.body = status, headers, body


def _connect(endpoint: Endpoint, timeout_s: float) -> openai.OpenAI:
    import openai

    _check(endpoint)
    parts = urlsplit(endpoint.base_url)
    http_client = _http_client(endpoint, timeout_s)
    return openai.OpenAI(
        api_key=endpoint.api_key or NO_KEY,
        base_url=parts._replace(query="", fragment="").geturl(),
        default_query=dict(parse_qsl(parts.query)),
        max_retries=0,
        http_client=http_client,
    )


def _http_client(endpoint: Endpoint, timeout_s: float) -> Any:
    import openai

    timeout = openai.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S))
    try:
        # a proxy elsewhere cannot reach this machine's own loopback
        return openai.DefaultHttpxClient(timeout=timeout, trust_env=not endpoint.is_local)
    except (ValueError, ImportError, OSError, _http_library().InvalidURL) as error:
        raise RunError(
            f"a proxy or certificate of the environment cannot be used: {type(error).__name__}",
            hint="check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE",
        ) from error


def _check(endpoint: Endpoint) -> None:
    if not re.match("https?://.", endpoint.shown_url):
        raise RunError(
            f"the base URL {endpoint.shown_url} is not an http or https URL",
            hint="check OPENAI_BASE_URL: it looks like https://HOST/v1",
        )
    key = endpoint.api_key
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise RunError("the key has characters that no key has", hint="copy it anew")


def _http_library() -> ModuleType:
    """Return the HTTP library under the client: httpx before its release 3, httpx2 since."""
    import openai

    name = openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]
    return sys.modules[name]


def _transport_errors() -> type[Exception]:
    """Return what the client lets through while a stream is read."""
    error: type[Exception] = _http_library().TransportError
    return error
