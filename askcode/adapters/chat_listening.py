"""Put the pieces of a reply together: what of it is the answer, and what it took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from askcode.adapters.bpe_tokens import count_llm_tokens
from askcode.adapters.chat_replies import Piece, ThinkingFilter
from askcode.records import Prompt, Usage

# What a chat template puts around each message, about.
TOKENS_AROUND_A_MESSAGE = 4

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Heard:
    """A reply as it was understood."""

    text: str
    reasoning: str
    refusal: str
    finish_reason: str
    has_thought: bool
    input_tokens: int | None
    output_tokens: int | None

    @property
    def ran_out(self) -> bool:
        """Return whether reasoning left no room for an answer."""
        is_empty = not self.text.strip() and not self.refusal
        return is_empty and bool(
            self.finish_reason == "length" or self.reasoning.strip() or self.has_thought
        )


class Listener:
    """Put the pieces of a reply together, and pass the answer's text on."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._filter = ThinkingFilter()
        self._said: list[str] = []
        self._pieces: list[Piece] = []
        self.has_ended = False

    @property
    def has_spoken(self) -> bool:
        """Return whether any text was passed on."""
        return bool(self._said)

    def take(self, piece: Piece | None) -> None:
        """Take the next piece, or None for the mark of the end."""
        if piece is None:
            self.has_ended = True
            return
        self._pieces.append(piece)
        self.has_ended = self.has_ended or piece.finish_reason is not None
        self._say(self._filter.feed(piece.text))

    def finish(self) -> Heard:
        """Return all of it."""
        self._say(self._filter.finish())
        return Heard(
            text="".join(self._said),
            reasoning="".join(piece.reasoning for piece in self._pieces),
            refusal="".join(piece.refusal for piece in self._pieces),
            finish_reason=_last([piece.finish_reason for piece in self._pieces]) or "stop",
            has_thought=self._filter.has_thought,
            input_tokens=_last([piece.input_tokens for piece in self._pieces]),
            output_tokens=_last([piece.output_tokens for piece in self._pieces]),
        )

    def _say(self, text: str) -> None:
        if text:
            self._said.append(text)
            self._on_text(text)


def _last(values: list[_T | None]) -> _T | None:
    return next((value for value in reversed(values) if value is not None), None)


def usage_of(prompt: Prompt, heard: Heard) -> Usage:
    """Return what a reply took: the server's numbers, or our own count where it gave none."""
    sent, got = heard.input_tokens, heard.output_tokens
    if sent is None:
        sent = sum(
            count_llm_tokens(text) + TOKENS_AROUND_A_MESSAGE
            for text in (prompt.system, prompt.user)
            if text
        )
    if got is None:
        got = count_llm_tokens(heard.reasoning) + count_llm_tokens(heard.text)
    return Usage(1, sent, got)
