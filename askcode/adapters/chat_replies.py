"""Read the replies of an OpenAI-compatible server, whole or streamed, leniently."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_THINK, _END_OF_THINK = "<think>", "</think>"


class NotJson(ValueError):
    """Report a body that is no JSON object."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one reply, or one event of a stream, brings."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def parse_reply(body: str) -> tuple[Piece, dict[str, Any]]:
    """Return what a whole reply says, and the object itself, to look for an error in it.

    Raises:
        NotJson: the body is cut, or something else.
    """
    try:
        data = json.loads(body)
    except ValueError as error:
        raise NotJson(str(error)) from error
    if not isinstance(data, dict):
        raise NotJson("no JSON object")
    return _piece(data, "message"), data


def parse_event(data: dict[str, Any]) -> Piece:
    """Return what one event of a stream brings; events without choices bring no text."""
    return _piece(data, "delta")


def stream_events(parts: Iterable[bytes]) -> Iterator[dict[str, Any] | None]:
    """Yield each event of a server-sent stream; None stands for the mark of its end.

    Lines end in "\\n" only: the text inside may hold any other separator that Unicode knows.

    Raises:
        NotJson: an event is cut.
    """
    for line in _lines(parts):
        if not line.startswith(b"data:"):
            continue
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            yield None
            return
        if data:
            yield _event(data)


class ThinkingFilter:
    """Drop a `<think>` block that begins a text that comes in pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "begin"
        self.has_thought = False

    def feed(self, piece: str) -> str:
        """Return what of the text so far is the answer and was not returned before."""
        if self._state == "answer":
            return piece
        self._held += piece
        if self._state == "begin":
            start = self._held.lstrip()
            if _THINK.startswith(start[: len(_THINK)]) and len(start) < len(_THINK):
                return ""
            self.has_thought = start.startswith(_THINK)
            self._state = "think" if self.has_thought else "answer"
            if not self.has_thought:
                return self._release(self._held)
        if self._state == "think":
            _, end, rest = self._held.partition(_END_OF_THINK)
            if not end:
                return ""
            self._held, self._state = rest, "gap"
        rest = self._held.lstrip()
        return self._release(rest) if rest else ""

    def finish(self) -> str:
        """Return what was held back and turned out to be the answer."""
        is_answer = self._state == "begin" and self._held.strip()
        return self._release(self._held) if is_answer else ""

    def _release(self, text: str) -> str:
        self._held, self._state = "", "answer"
        return text


def _piece(data: dict[str, Any], name: str) -> Piece:
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, dict) else {}
    message = choice.get(name) or choice.get("message") or choice.get("delta")
    message = message if isinstance(message, dict) else {}
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    finish = choice.get("finish_reason")
    return Piece(
        text=_text_of(message.get("content")),
        reasoning=_text_of(message.get("reasoning_content") or message.get("reasoning")),
        refusal=_text_of(message.get("refusal")),
        finish_reason=finish if isinstance(finish, str) and finish else None,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _text_of(content: object) -> str:
    """Return a content's text, also where it comes as a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(
        part["text"]
        for part in content
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part["text"], str)
    )


def _count(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_count and isinstance(value, int) else None


def _lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    held = b""
    for part in parts:
        *whole, held = (held + part).split(b"\n")
        yield from whole
    yield held


def _event(data: bytes) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except ValueError as error:
        raise NotJson(str(error)) from error
    if not isinstance(event, dict):
        raise NotJson("no JSON object")
    return event
