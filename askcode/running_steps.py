"""Call own steps, and take from them only what their group promises."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from itertools import islice
from types import TracebackType
from typing import TypeVar

from askcode.asking import clean_question
from askcode.cleaning_replies import shortened
from askcode.errors import StepError, UsageError
from askcode.own_steps import LoadedStep, shown_error
from askcode.records import Chunk, Note

# As much as an outline may say: more would drown what else a chunk is found by.
MAX_METADATA_CHARACTERS = 2_000
# Each search takes as long as the question's own.
MAX_SEARCHES = 20

Result = TypeVar("Result")


class _WrongValue(Exception):
    """Tell that a step returned something of another type than its group promises."""


def why_left_out(steps: Sequence[LoadedStep], path: str) -> str:
    """Return the first reason that a step gives to leave a file out, or nothing.

    Raises:
        StepError: a step fails.
    """
    for step in steps:
        said = _called(step, path, about=path, read=_reason)
        if said:
            return said
    return ""


def notes_of(steps: Sequence[LoadedStep], chunk: Chunk) -> tuple[list[Note], list[str]]:
    """Return what the steps say of a chunk, and the messages of those that failed.

    A step that has nothing to say gives an empty note: its kind is there all the same.
    """
    notes: list[Note] = []
    failures: list[str] = []
    for step in steps:
        try:
            text = _called(step, chunk, about=chunk.location, read=_metadata)
        except StepError as error:
            failures.append(error.message)
        else:
            notes.append(Note(step.kind, text))
    return notes, failures


def searches_of(steps: Sequence[LoadedStep], question: str) -> tuple[str, ...]:
    """Return what the steps add to a question's searches, each once, without the question.

    Raises:
        StepError: a step fails.
    """
    found = {question: None}
    for step in steps:
        said = _called(step, question, about="the question", read=_searches)
        found.update(dict.fromkeys(said))
    return tuple(found)[1:]


def _called(
    step: LoadedStep, value: object, *, about: str, read: Callable[[object], Result]
) -> Result:
    """Return what a step makes of a value, read as its group's results are.

    Raises:
        StepError: the step raises, or returns something else.
    """
    try:
        with redirect_stdout(sys.stderr):
            return read(step.function(value))
    except _WrongValue as error:
        raise _failure(step, about, str(error), step.file or step.step.target) from error
    except (Exception, SystemExit) as error:
        # a stranger's function may raise anything
        place = _place(error.__traceback__, step)
        raise _failure(step, about, shown_error(error), place) from error


def _failure(step: LoadedStep, about: str, said: str, place: str) -> StepError:
    return StepError(
        f"the {step.step.title} failed on {about}: {said} ({place})", hint=step.step.hint
    )


def _reason(said: object) -> str:
    if said is None or said is True:
        return ""
    if said is False:
        return "own step"
    if isinstance(said, str):
        return " ".join(said.split())
    raise _wrong(said, "None to keep the file or a text, the reason to leave it out")


def _metadata(said: object) -> str:
    if said is None:
        return ""
    if isinstance(said, str):
        return shortened(said.strip(), MAX_METADATA_CHARACTERS)
    raise _wrong(said, "a text or None")


def _searches(said: object) -> list[str]:
    if said is None:
        return []
    if isinstance(said, str):
        said = [said]
    if not isinstance(said, Iterable):
        raise _wrong(said, "texts to search for")
    searches = list(islice(said, MAX_SEARCHES))
    for text in searches:
        if not isinstance(text, str):
            raise _wrong(text, "texts to search for", found="one of them is")
    return list(_cleaned(searches))


def _cleaned(searches: Sequence[str]) -> Iterator[str]:
    for text in searches:
        try:
            yield clean_question(text).text
        except UsageError:
            # there is nothing in it to search for
            continue


def _wrong(said: object, wanted: str, *, found: str = "it returned") -> _WrongValue:
    return _WrongValue(f"it must return {wanted}; {found} a value of type {type(said).__name__}")


def _place(traceback: TracebackType | None, step: LoadedStep) -> str:
    """Return the last line of the step's own file that was running, as `file:line`."""
    line = 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == step.file:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    place = step.file or step.step.target
    return f"{place}:{line}" if line else place
