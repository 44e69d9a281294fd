"""Count a language model's tokens with the o200k vocabulary, which ships in the package."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

ENCODING = "o200k_base"

# The library refuses texts of more than 200,000 tokens; a character is four bytes at most,
# and a byte one token at most.
PIECE_CHARACTERS = 50_000


def count_llm_tokens(text: str) -> int:
    """Count the tokens of a text; markers such as `<|endoftext|>` in source are plain text."""
    # half of a surrogate pair has no UTF-8: count what would be sent in its place
    sendable = text.encode("utf-8", "replace").decode("utf-8")
    pieces = (
        sendable[start : start + PIECE_CHARACTERS]
        for start in range(0, len(sendable), PIECE_CHARACTERS)
    )
    return sum(len(_encoding().encode_ordinary(piece)) for piece in pieces)


@lru_cache(maxsize=1)
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding(ENCODING)
