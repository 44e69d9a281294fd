"""Make a question fit to be searched and sent: never empty, never endless, no controls."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from askcode.errors import UsageError

# A long stack trace with its question has about 5,000 characters; what is longer is a log
# pasted whole, which would push the excerpts out of the prompt.
MAX_CHARACTERS = 8_000

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class CleanQuestion:
    """A question as it is asked, and what was changed about it, or an empty text."""

    text: str
    warning: str = ""


def clean_question(text: str) -> CleanQuestion:
    """Return the question without controls, its middle cut out when it is too long.

    Raises:
        UsageError: nothing is left to ask.
    """
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = _CONTROLS.sub(" ", text.replace("\r\n", "\n")).strip()
    if not any(_is_visible(character) for character in text):
        raise UsageError("the question is empty", hint='askcode ask "how does ... work?"')
    if len(text) <= MAX_CHARACTERS:
        return CleanQuestion(text)
    # errors stand at the end of a log, the question mostly before or behind it
    half = MAX_CHARACTERS // 2
    return CleanQuestion(
        f"{text[:half]}\n[...]\n{text[-half:]}",
        f"the question has {len(text):,} characters; its middle was cut to {MAX_CHARACTERS:,}",
    )


def _is_visible(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character)[0] not in "CZM"
