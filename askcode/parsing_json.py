"""Read question-answer pairs and lists out of replies that came as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# replies hold a handful of values; more brackets than this are code or noise
MAX_STARTS = 400
_START = re.compile(r"[\[{]")
_QUESTION_KEY = re.compile(r"(?:q|question)[ _-]?(\d*)", re.IGNORECASE)
_ANSWER_KEY = r"(?:a|ans|answer)[ _-]?{number}"


@dataclass(frozen=True, slots=True)
class RawPair:
    """A question and an answer as they stand in a reply, not yet cleaned."""

    question: str
    answer: str


def json_pairs(text: str) -> list[RawPair]:
    """Return the pairs of every JSON value in a text; from a cut list, those that are whole."""
    return [pair for value in json_values(text) for pair in _pairs_of(value)]


def json_strings(text: str) -> list[str]:
    """Return the strings of the first JSON list in a text, also one inside an object."""
    for value in json_values(text):
        found = list(_strings_of(value))
        if found:
            return found
    return []


def json_values(text: str) -> list[object]:
    """Return every JSON list or object in a text, outermost first where it is whole."""
    decoder = json.JSONDecoder(strict=False)
    values: list[object] = []
    end = 0
    for count, match in enumerate(_START.finditer(text)):
        if count >= MAX_STARTS:
            break
        if match.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        except RecursionError:
            break  # thousands of brackets in a row: no reply, and slow to try again at each
        values.append(value)
    return values


def _pairs_of(value: object) -> Iterator[RawPair]:
    if isinstance(value, list):
        yield from _pairs_of_list(value)
    elif isinstance(value, dict):
        yield from _pairs_of_object({str(key).strip(): item for key, item in value.items()})


def _pairs_of_list(items: list[object]) -> Iterator[RawPair]:
    texts = [item for item in items if isinstance(item, str)]
    if len(items) == len(texts) == 2 and texts[0].rstrip().endswith("?"):
        yield RawPair(texts[0], texts[1])
        return
    for item in items:
        yield from _pairs_of(item)


def _pairs_of_object(fields: Mapping[str, object]) -> Iterator[RawPair]:
    labelled = False
    for key, item in fields.items():
        match = _QUESTION_KEY.fullmatch(key)
        answer = _answer_to(match.group(1), fields) if match else None
        if match and answer is not None and not isinstance(item, (list, dict)):
            labelled = True
            yield RawPair(_as_text(item), _as_text(answer))
    if labelled:
        return
    for key, item in fields.items():
        if key.endswith("?") and not isinstance(item, dict):
            yield RawPair(key, _as_text(item))
        else:
            yield from _pairs_of(item)


def _answer_to(number: str, fields: Mapping[str, object]) -> object | None:
    wanted = re.compile(_ANSWER_KEY.format(number=re.escape(number)), re.IGNORECASE)
    return next((item for key, item in fields.items() if wanted.fullmatch(key)), None)


def _as_text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(_as_text(item) for item in value)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _strings_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings_of(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings_of(item)
