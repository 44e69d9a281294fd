"""Clean what the language model replied, before anything is read out of it."""

from __future__ import annotations

import re

from askcode.terminal_text import UNSAFE

# far above any honest reply of a few questions; what comes after is a model gone astray
MAX_REPLY_CHARS = 60_000

CUT_REASONS = frozenset({"length", "max_tokens"})
CLOSING = re.compile(
    r"^[\s*_]*(?:(?:i |we )?hope (?:this|these|that|it)\b|let me know\b|feel free\b|please let\b"
    r"|if you (?:need|want|have|would)\b|these (?:questions|q&a|pairs|cover)"
    r"|the above (?:questions|q&a)|would you like\b|is there anything\b"
    r"|note that these\b|end of\b)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\W*(?:n/?a|none given|\.\.\.|…|tbd|todo)?\W*|<[^<>]*>|\[[^\[\]]*\]", re.IGNORECASE
)
_CONTROL_SEQUENCES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system commands, such as a title
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor, clearing
    r"|\x1b[ -/]*[0-~]"
)
_UNSAFE = re.compile(f"[{UNSAFE}]")
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED_THOUGHTS = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ >]*(?:`{3,}|~{3,})[\w+-]*[ ]*$", re.MULTILINE)
_TAG = re.compile(r"<(question|answer|q|a)\s*(\d*)>", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"</(?:question|answer|q|a|pair|qa)\s*\d*>|<(?:pair|qa)>", re.IGNORECASE)


def prepared(text: str) -> str:
    """Return a reply without thoughts, control characters, fences and tags."""
    text = text[:MAX_REPLY_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    text = _UNOPENED_THOUGHTS.sub("", _THOUGHTS.sub("", text))
    text = _UNSAFE.sub("", _CONTROL_SEQUENCES.sub("", text)).replace("\t", " ")
    text = _CLOSING_TAG.sub("", _TAG.sub(r"\n\1 \2: ", text))
    return re.sub(r" {3,}", "  ", _FENCE.sub("", text))


def is_nothing(text: str) -> bool:
    """Return whether a text says nothing: empty, only punctuation, or a placeholder.

    Example: `...`, `N/A`, `<question>` and `[answer]`.
    """
    return not re.search(r"\w", text) or (len(text) < 80 and bool(_NOTHING.fullmatch(text)))


def plain(text: str) -> str:
    """Return a text in one line, without emphasis or quotation marks around it."""
    text = " ".join(text.split()).strip("|").strip()
    for mark in ("**", "__", '"', "“"):
        close = "”" if mark == "“" else mark
        inner = text[len(mark) : -len(close)]
        is_wrapped = text.startswith(mark) and text.endswith(close)
        if is_wrapped and len(text) > 2 * len(mark) and mark not in inner:
            text = inner.strip()
    return text


def shortened(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, cut between words."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[limit // 2 :] else head).rstrip() + "…"


def folded(text: str) -> str:
    """Return what two texts that say the same thing have in common: their words."""
    return " ".join(re.findall(r"\w+", text.casefold()))
