"""Read summaries, titles, keywords and search questions out of replies."""

from __future__ import annotations

import re
from collections.abc import Iterable

from askcode.cleaning_replies import (
    CLOSING,
    CUT_REASONS,
    folded,
    is_nothing,
    plain,
    prepared,
    shortened,
)
from askcode.parsing_json import json_strings, json_values
from askcode.records import Reply

# what a list of hits can show, and what is worth embedding beside the code
MAX_NOTE_CHARS = {"summary": 1_200, "title": 120, "keywords": 400}
MAX_KEYWORDS = 20
MAX_KEYWORD_CHARS = 60
MAX_SEARCH_CHARS = 300
_LEAD_IN = re.compile(
    r"^[\s*_#]*(?:sure|certainly|of course|okay|ok|here (?:is|are)|here's|below (?:is|are))\b"
    r"[^\n]{0,200}?(?::[*_ \t]*$|[!.,][ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)


def parse_note(kind: str, reply: Reply) -> str:
    """Return a summary, title or list of keywords; empty when the reply is unusable."""
    text = _unwrapped(kind, prepared(reply.text))
    if kind == "keywords":
        return _keywords(text)
    lines = [_without_label(kind, line) for line in text.split("\n")]
    lines = [line for line in lines if line.strip() and not CLOSING.match(line)]
    if kind == "title":
        note = plain(lines[0]).strip("*_ ") if lines else ""
    else:
        note = plain(" ".join(lines))
        if reply.finish_reason in CUT_REASONS:
            note = _whole_sentences(note)
    note = "" if is_nothing(note) else note
    return shortened(note, MAX_NOTE_CHARS[kind])


def parse_searches(reply: Reply, *, question: str, count: int) -> tuple[str, ...]:
    """Return up to `count` search questions, without the original and without repetitions."""
    text = prepared(reply.text)
    lines: Iterable[str] = json_strings(text) or _listed_lines(text)
    known = {folded(question), ""}
    searches: list[str] = []
    for line in lines:
        search = shortened(plain(_without_label("question", line)), MAX_SEARCH_CHARS)
        if folded(search) in known or is_nothing(search):
            continue
        known.add(folded(search))
        searches.append(search)
    return tuple(searches[:count])


def _unwrapped(kind: str, text: str) -> str:
    """Return the text of a note that came as JSON or with a sentence before it."""
    for value in json_values(text):
        found = value.get(kind) if isinstance(value, dict) else value
        if isinstance(found, str):
            return found
        if isinstance(found, list) and all(isinstance(item, str) for item in found):
            return "\n".join(found)
    return _LEAD_IN.sub("", text, count=1) if _LEAD_IN.match(text.lstrip()) else text


def _without_label(kind: str, line: str) -> str:
    line = re.sub(r"^[\s>#•+\-]+|^\s*\*\s+|^\s*\(?\d+[.)]\s*", "", line)
    label = rf"^[\s*_#]*(?:{kind}s?|q)\s*\d*[*_\s]*[:：]\s*(?:\*\*|__)?\s*"
    return re.sub(label, "", line, flags=re.IGNORECASE)


def _keywords(text: str) -> str:
    words: dict[str, str] = {}
    lines = [_without_label("keyword", line) for line in text.split("\n")]
    for part in re.split(r"[,;\n、，]", "\n".join(lines)):
        word = plain(_without_label("keyword", part)).strip(" .`*\"'[]")
        if word and not is_nothing(word) and len(word) <= MAX_KEYWORD_CHARS:
            words.setdefault(word.casefold(), word)
    return shortened(", ".join(list(words.values())[:MAX_KEYWORDS]), MAX_NOTE_CHARS["keywords"])


def _listed_lines(text: str) -> list[str]:
    """Return the lines of a list; prose around it is left out when the list is marked."""
    lines = [line for line in text.split("\n") if line.strip() and not CLOSING.match(line)]
    marked = [
        line
        for line in lines
        if re.match(r"\s*(?:[-*•+]\s|\(?\d+[.)]|q(?:uestion)?\s*\d+)", line, re.I)
    ]
    asking = [line for line in lines if line.rstrip(" *_\"'").endswith("?")]
    if len(marked) > 1 or (marked and len(marked) == len(lines)):
        return marked
    return asking or [line for line in lines if not _LEAD_IN.match(line)]


def _whole_sentences(text: str) -> str:
    ends = list(re.finditer(r"[.!?](?=\s)", text + " "))
    return text[: ends[-1].end()] if ends else text
