"""Tell what a refusal of an OpenAI-compatible server means for the request and for the run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

from askcode.providers import Endpoint
from askcode.terminal_text import escape_line

# Longer waits are for the user to decide on.
LONGEST_WAIT_S = 60.0

# Of a provider's text, in a message of one line.
SHOWN_CHARACTERS = 300

# Shorter keys are place-holders of local servers; masking "x" would spoil every message.
SHORTEST_SECRET = 6

TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
# What no other request of the run would be spared: key, payment, URL, method, proxy.
FINAL_STATUSES = frozenset({401, 402, 403, 404, 405, 407, 410, 421, 426, 451})
UNDERSTOOD_STATUSES = frozenset({400, 422})
TOO_LARGE_STATUS = 413
# What an error inside a reply of status 200 counts as, unless it names a status itself.
ERROR_IN_REPLY = 502

_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "account_deactivated",
        "insufficient_credits",
        "insufficient_balance",
    }
)
_QUOTA = re.compile(
    r"insufficient[ _](quota|credit|fund|balance)|exceeded your current quota|billing"
    r"|credit balance|payment required|out of credits|spending limit|quota.{0,20}exhausted",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[_ ](length|window|size)|maximum context|prompt is too long|input is too long"
    r"|input token count.{0,40}exceed|too many (input )?tokens|max_model_len"
    r"|reduce the length of the (messages|prompt|input)|longer than the maximum|string too long"
    r"|exceeds? the (available|maximum|model's) (context|(number of )?tokens|input)"
    r"|(inputs?|prompt)( tokens?)? .{0,60}(must be|exceeds?|larger|longer).{0,40}tokens",
    re.IGNORECASE,
)
_ABOVE_RATE = re.compile(r"request too large|tokens must be reduced", re.IGNORECASE)
_REFUSED = re.compile(
    r"content[_ ]?(filter|management|policy)|moderation|flagged|safety|responsibleai",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(
    r"api[ _-]?key.{0,40}(invalid|not valid|incorrect|missing|required|expired)"
    r"|(invalid|incorrect|missing|expired) .{0,20}(api[ _-]?key|credential|token provided)"
    r"|unauthori[sz]ed|authentication",
    re.IGNORECASE,
)
_BAD_MODEL = re.compile(
    r"model_?not_?found|invalid_model|unknown model|no such model|not a valid model"
    r"|model.{0,120}(does not exist|not found|not exist|is not supported|not available"
    r"|decommissioned|deprecated|no longer|not a chat model)|(invalid|missing) model",
    re.IGNORECASE | re.DOTALL,
)
_TOLD_WAIT = re.compile(
    r"(?:try again|retry|retrydelay)\W+(?:in|after)?\W*"
    r"(?:(?P<h>\d+)\s*h[a-z]*)?\s*(?:(?P<m>\d+)\s*m(?!s)[a-z]*)?\s*"
    r"(?:(?P<s>\d+(?:\.\d+)?)\s*(?P<unit>ms|s))?",
    re.IGNORECASE,
)
_MASKED_KEY = re.compile(r"[\w-]*(?:[*•…]+|\.{3,})[\w-]*")
_WORD = re.compile(r"[\w-]{6,}")
_MASK = "[key]"


class Kind(Enum):
    """What to do after a failure."""

    TRANSIENT = "try again"
    SILENT = "try again: no answer came in time"
    RATE = "slow down and try again"
    UNREACHABLE = "try again once: nobody answers"
    PARAMETER = "say it in another way"
    CHUNK = "give this request up"
    CONTEXT = "give this request up, or shorten it"
    RUN = "stop the run"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed request: what it means, and the message that says so."""

    kind: Kind
    message: str
    hint: str = ""
    wait_s: float | None = None
    """How long the server said to wait, in seconds."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reply that is not the one asked for."""

    status: int
    body: str
    headers: Mapping[str, str]

    @property
    def is_html(self) -> bool:
        """Return whether it is a page for people."""
        start = self.body.lstrip()[:200].lower()
        kind = self.headers.get("content-type", "").lower()
        return "text/html" in kind or start.startswith(("<!doctype", "<html", "<head"))


def read_refusal(refusal: Refusal, endpoint: Endpoint, *, now: datetime | None = None) -> Failure:
    """Return what a refusal means, by its status, error code and text."""
    error = _error_of(refusal.body)
    status = _status_within(error) or refusal.status
    text = f"{error.code} {error.type} {error.text or refusal.body}"
    wait_s = told_wait_s(refusal, now=now)
    says = message_of(refusal, endpoint)
    if _is_quota(error, text, wait_s, status):
        return Failure(Kind.RUN, says, "check the plan and billing of this key")
    if status == 200 and error.text and not refusal.is_html:
        status = ERROR_IN_REPLY
    if status < 400:
        return Failure(Kind.RUN, says, url_hint(endpoint))
    if status == TOO_LARGE_STATUS or _is_context(error, text, status):
        return Failure(Kind.CONTEXT, f"the context does not fit: {says}", "ask for less at once")
    if status in TRANSIENT_STATUSES or status >= 500:
        return _passing(status, says, wait_s, refusal)
    return _refused(status, text, says, endpoint)


def message_of(refusal: Refusal, endpoint: Endpoint) -> str:
    """Return one line with the URL, the status and the provider's own words, the key masked."""
    error = _error_of(refusal.body)
    if refusal.is_html:
        words = "an HTML page, not JSON"
    else:
        words = error.text or refusal.body.strip() or "an empty body"
    if error.code and error.code not in words:
        words = f"{words} ({error.code})"
    shown = safe_words(words, endpoint.api_key)
    return f"{endpoint.shown_url} answered {refusal.status}: {shown}"


def safe_words(text: str, key: str) -> str:
    """Return a provider's text in one short line, controls escaped, the key and its echoes masked.

    Providers repeat a wrong key with its middle starred or dotted out; what is left of it
    is still a part of the key.
    """
    line = escape_line(_mask(" ".join(text.split()), key))
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def told_wait_s(refusal: Refusal, *, now: datetime | None = None) -> float | None:
    """Return how long the server said to wait, in seconds, or None.

    From `retry-after-ms`, `Retry-After` (RFC 9110: seconds or a date), or the error's text.
    """
    headers = refusal.headers
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is None and value:
        seconds = _seconds_until(value, headers.get("date"), now)
    if seconds is None and refusal.status in (429, 503):
        seconds = _wait_in_text(refusal.body)
    return None if seconds is None else max(0.0, seconds)


def url_hint(endpoint: Endpoint) -> str:
    """Return what to check when the URL may be wrong."""
    if endpoint.shown_url.rstrip("/").endswith(("/v1", "/openai")):
        return "check OPENAI_BASE_URL, and that the server speaks the OpenAI protocol"
    return f"check OPENAI_BASE_URL: it usually ends in /v1 ({endpoint.shown_url.rstrip('/')}/v1)"


def shown_duration(seconds: float) -> str:
    """Return a duration in words: "45 s", "12 min", "24 h"."""
    if seconds == float("inf"):
        return "for ever"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


@dataclass(frozen=True, slots=True)
class _Error:
    text: str = ""
    code: str = ""
    type: str = ""
    status: int | None = None


def _error_of(body: str) -> _Error:
    """Return the error of a body in any of the forms that servers give."""
    try:
        data = json.loads(body)
    except ValueError:
        return _Error()
    if isinstance(data, list) and data:
        data = data[0]
    if not isinstance(data, dict):
        return _Error()
    error = next((data[name] for name in ("error", "detail", "errors") if data.get(name)), data)
    if not isinstance(error, dict):
        return _Error(text=error if isinstance(error, str) else json.dumps(error))
    words = error.get("message") or error.get("detail") or error.get("error") or ""
    code = error.get("code")
    return _Error(
        text=words if isinstance(words, str) else json.dumps(words),
        code=code if isinstance(code, str) else "",
        type=str(error.get("type") or error.get("status") or ""),
        status=code if isinstance(code, int) and not isinstance(code, bool) else None,
    )


def _status_within(error: _Error) -> int | None:
    """Return the status that a gateway passes on inside its own reply."""
    return error.status if error.status and 400 <= error.status < 600 else None


def _is_quota(error: _Error, text: str, wait_s: float | None, status: int) -> bool:
    if {error.code, error.type} & _QUOTA_CODES:
        return True
    if "rate_limit" in error.code:
        return False
    # some providers call a limit per minute a quota too, but then they tell how long it lasts
    return status in (400, 402, 403, 429) and wait_s is None and bool(_QUOTA.search(text))


def _is_context(error: _Error, text: str, status: int) -> bool:
    if status == 429:  # a single request above the limit of tokens a minute never gets through
        return bool(_ABOVE_RATE.search(text))
    return error.code == "context_length_exceeded" or bool(_CONTEXT.search(text))


def _passing(status: int, says: str, wait_s: float | None, refusal: Refusal) -> Failure:
    if wait_s is not None and wait_s > LONGEST_WAIT_S:
        told = f"{says} (and said to wait {shown_duration(wait_s)})"
        return Failure(Kind.RUN, told, "run again later; what is stored is kept")
    kind = Kind.RATE if status == 429 else Kind.TRANSIENT
    hint = "try again later" if not refusal.is_html else "the server or a proxy before it is down"
    return Failure(kind, says, hint, wait_s)


def _refused(status: int, text: str, says: str, endpoint: Endpoint) -> Failure:
    if status in (400, 403, 422) and _REFUSED.search(text):
        return Failure(Kind.CHUNK, f"the provider refused the text: {says}")
    if _BAD_MODEL.search(text):
        return Failure(Kind.RUN, says, f"check OPENAI_MODEL: it is {escape_line(endpoint.model)!r}")
    if status in (401, 403) or (status in UNDERSTOOD_STATUSES and _BAD_KEY.search(text)):
        return Failure(Kind.RUN, says, "check the key: is it set, and meant for this URL?")
    if status in FINAL_STATUSES:
        return Failure(Kind.RUN, says, url_hint(endpoint))
    return Failure(Kind.PARAMETER if status in UNDERSTOOD_STATUSES else Kind.CHUNK, says)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return None if number != number else number


def _seconds_until(date: str, sent: str | None, now: datetime | None) -> float | None:
    """Return the time to a date by the server's own clock, where it tells it."""
    try:
        until = _aware(parsedate_to_datetime(date))
    except ValueError:
        return None
    try:
        start = _aware(parsedate_to_datetime(sent)) if sent else None
    except ValueError:
        start = None
    return (until - (start or now or datetime.now(UTC))).total_seconds()


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _wait_in_text(body: str) -> float | None:
    for match in _TOLD_WAIT.finditer(body):
        hours, minutes, seconds, unit = match.group("h", "m", "s", "unit")
        if hours or minutes or seconds:
            size = float(seconds or 0) / (1000 if (unit or "").lower() == "ms" else 1)
            return int(hours or 0) * 3600 + int(minutes or 0) * 60 + size
    return None


def _mask(text: str, key: str) -> str:
    if len(key) < SHORTEST_SECRET:
        return text
    text = text.replace(key, _MASK)
    text = _MASKED_KEY.sub(lambda found: _mask_echo(found.group(), key), text)
    return _WORD.sub(lambda found: _MASK if found.group() in key else found.group(), text)


def _mask_echo(word: str, key: str) -> str:
    start, *_, end = re.split(r"[*•…]+|\.{3,}", word)
    is_echo = (len(start) > 1 and key.startswith(start)) or (len(end) > 1 and key.endswith(end))
    return _MASK if is_echo else word
