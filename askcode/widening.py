"""Widen a question into the searches that retrieval runs."""

from __future__ import annotations

from dataclasses import dataclass

from askcode.errors import LanguageModelError, RunError
from askcode.parsing_notes import parse_searches
from askcode.prompting import Prompts
from askcode.protocols import LanguageModel
from askcode.records import Prompt, Usage


@dataclass(frozen=True, slots=True)
class Widened:
    """What to search for: the question itself, then what the language model added."""

    searches: tuple[str, ...]
    usage: Usage
    warning: str = ""
    """Why the question stands alone, when that is not on purpose."""


def widen(text: str, *, model: LanguageModel | None, prompts: Prompts, count: int) -> Widened:
    """Return the question and up to `count` follow-ups; alone when none can be had.

    Raises:
        RunError: no call of this run can work, so neither can the answer.
    """
    if model is None or count < 1:
        return Widened((text,), Usage())
    boundary = prompts.boundary(text)
    user = prompts.render("subquestions", question=text, count=count, boundary=boundary)
    try:
        reply = model.complete(Prompt(prompts.render("widen_system"), user))
    except RunError:
        raise
    except LanguageModelError as error:
        return Widened((text,), Usage(), f"the question was not widened: {error.message}")
    searches = parse_searches(reply, question=text, count=count)
    warning = "" if searches else "the question was not widened: the reply held no question"
    return Widened((text, *searches), reply.usage, warning)
