"""Read questions with the files that should answer them: one JSON object a line."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from askcode.asking import clean_question
from askcode.errors import UsageError

_FORM = '{"question": "...", "paths": ["src/a.py"], "answer": "optional"}'


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with what is expected of its answer."""

    text: str
    paths: tuple[str, ...]
    """At least one."""
    reference: str | None = None
    """The answer that a person would give."""


def read_questions(path: Path) -> list[EvalQuestion]:
    """Read the questions of a file; blank lines and other keys are passed over.

    Raises:
        UsageError: the file cannot be read, has no question, or a row is wrong; with its line.
    """
    questions: dict[str, EvalQuestion] = {}
    lines: dict[str, int] = {}
    for number, row in read_rows(path):
        question = _question(row, f"{path}:{number}")
        if question.text in questions:
            raise _wrong(
                f"{path}:{number}", f"the question stands in line {lines[question.text]} too"
            )
        questions[question.text], lines[question.text] = question, number
    if not questions:
        raise UsageError(f"{path} holds no question", hint=f"a line for each: {_FORM}")
    return list(questions.values())


def read_rows(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield each JSON object of a file with the number of its line.

    Raises:
        UsageError: the file cannot be read, or a line is no JSON object.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _wrong(f"{path}:{number}", f"it is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise _wrong(f"{path}:{number}", "it is no JSON object")
        yield number, row


def _question(row: Mapping[str, object], place: str) -> EvalQuestion:
    text = row.get("question")
    if not isinstance(text, str):
        raise _wrong(place, "question must be a text")
    try:
        text = clean_question(text).text
    except UsageError as error:
        raise _wrong(place, error.message) from error
    reference = row.get("answer")
    if reference is not None and not isinstance(reference, str):
        raise _wrong(place, "answer must be a text")
    return EvalQuestion(text, _paths(row.get("paths"), place), reference or None)


def _paths(value: object, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise _wrong(place, "paths must be a list of at least one path")
    found: dict[str, None] = {}
    for path in value:
        if not isinstance(path, str) or not path.strip():
            raise _wrong(place, "paths must be texts")
        normal = posixpath.normpath(path)
        if normal.startswith(("/", "../")) or normal in (".", ".."):
            raise _wrong(place, f"paths are relative to the root of the code base, not {path!r}")
        found[normal] = None
    return tuple(found)


def _wrong(place: str, why: str) -> UsageError:
    return UsageError(f"{place}: {why}", hint=f"a line is {_FORM}")
