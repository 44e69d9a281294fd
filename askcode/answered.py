"""The value that an answered question becomes: what was said, and what it took."""

from __future__ import annotations

from dataclasses import dataclass, field

from askcode.packing import Packed
from askcode.records import Answer


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with what it took to make it."""

    answer: Answer
    packed: Packed | None = None
    """What the model was shown; None where it was not asked."""
    prompt_tokens: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """By stage: "search", and "answer" where a model was asked."""
    warnings: tuple[str, ...] = ()
