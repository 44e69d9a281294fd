"""What a server understands beyond the core of the protocol, learnt from its first refusals."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace

from askcode.records import Prompt

# Statuses that servers refuse a parameter with; 500 is what a chat template that raises gives.
REFUSING = frozenset({400, 422, 500, 501})

_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
_NO_SYSTEM = re.compile(
    r"system.{0,40}(role|message|prompt|instruction)|role.{0,20}system|developer instruction"
    r"|only user and assistant roles|roles must alternate",
    re.IGNORECASE | re.DOTALL,
)
_NO_STREAM_OPTIONS = re.compile(r"stream_?options|include_usage", re.IGNORECASE)
_LIMIT_TOO_LARGE = re.compile(r"too large|too high|at most|exceed|maximum|less than", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent to a server."""

    limit_name: str | None
    """The parameter that limits the reply's tokens; None when the server knows none."""
    has_system: bool = True
    has_stream_options: bool = True

    def messages(self, prompt: Prompt) -> list[dict[str, str]]:
        """Return the prompt's messages, the system's text before the user's where need be."""
        if not prompt.system.strip():
            return [_message("user", prompt.user)]
        if not self.has_system:
            return [_message("user", f"{prompt.system}\n\n{prompt.user}")]
        return [_message("system", prompt.system), _message("user", prompt.user)]

    def options(self, prompt: Prompt, *, streams: bool) -> dict[str, object]:
        """Return the optional parameters; no limit is sent unless the prompt has one."""
        options: dict[str, object] = {}
        if self.limit_name and prompt.max_output_tokens is not None:
            options[self.limit_name] = prompt.max_output_tokens
        if streams and self.has_stream_options:
            options["stream_options"] = {"include_usage": True}
        return options


def first_dialect(provider: str) -> Dialect:
    """Return what is tried first: OpenAI deprecated `max_tokens`, most others know only it."""
    return Dialect(limit_name=_LIMIT_NAMES[0 if provider == "openai" else 1])


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it was sent."""

    dialect: Dialect
    messages: list[dict[str, str]]
    options: dict[str, object]

    @property
    def has_system(self) -> bool:
        """Return whether a message has the role that some servers refuse."""
        return self.messages[0]["role"] == "system"


def put(prompt: Prompt, dialect: Dialect, *, streams: bool) -> Sent:
    """Put a prompt in a dialect."""
    return Sent(dialect, dialect.messages(prompt), dialect.options(prompt, streams=streams))


def next_dialect(request: Sent, refusal: str) -> Dialect | None:
    """Return what to try after a refusal, or None when it was about something else."""
    sent = request.dialect
    if "stream_options" in request.options and _NO_STREAM_OPTIONS.search(refusal):
        return replace(sent, has_stream_options=False)
    if sent.limit_name in request.options and any(name in refusal for name in _LIMIT_NAMES):
        return replace(sent, limit_name=_other_limit(sent.limit_name, refusal))
    if request.has_system and _NO_SYSTEM.search(refusal):
        return replace(sent, has_system=False)
    return None


def plainest_dialect(request: Sent) -> Dialect | None:
    """Return the dialect without what is optional, or None when nothing of it was sent.

    For refusals that do not name what they refuse.
    """
    sent = request.dialect
    if not request.options:
        return None
    return replace(
        sent,
        limit_name=None if sent.limit_name in request.options else sent.limit_name,
        has_stream_options=sent.has_stream_options and "stream_options" not in request.options,
    )


class LearntDialect:
    """The dialect of a run, shared by its threads."""

    def __init__(self, first: Dialect) -> None:
        self._lock = threading.Lock()
        self._current = first
        self._refused: set[str] = set()
        self._has_worked = False

    @property
    def current(self) -> Dialect:
        """Return what to send."""
        return self._current

    def confirm(self) -> None:
        """Take note that a request was understood."""
        self._has_worked = True

    def learn(self, request: Sent, refusal: str) -> bool:
        """Change what is sent from now on; return whether the request is worth sending again."""
        with self._lock:
            if request.dialect != self._current:
                return True
            return self._change(next_dialect(request, refusal))

    def simplify(self, request: Sent) -> bool:
        """Leave out what is optional, unless that was understood before; return as `learn`."""
        with self._lock:
            if request.dialect != self._current:
                return True
            return not self._has_worked and self._change(plainest_dialect(request))

    def _change(self, following: Dialect | None) -> bool:
        if following is None:
            return False
        if self._current.limit_name and self._current.limit_name != following.limit_name:
            self._refused.add(self._current.limit_name)
        if following.limit_name in self._refused:
            following = replace(following, limit_name=None)
        self._current = following
        return True


def _other_limit(name: str | None, refusal: str) -> str | None:
    if _LIMIT_TOO_LARGE.search(refusal):
        return None
    return _LIMIT_NAMES[1 - _LIMIT_NAMES.index(name or "")]


def _message(role: str, content: str) -> dict[str, str]:
    # half of a surrogate pair, as in names that are not UTF-8, cannot be sent
    return {"role": role, "content": content.encode("utf-8", "replace").decode("utf-8")}
