"""Count a language model's tokens with the o200k vocabulary, which ships in the package."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

ENCODING = "o200k_base"


def count_llm_tokens(text: str) -> int:
    """Count the tokens of a text; markers such as `<|endoftext|>` in source are plain text."""
    # half of a surrogate pair has no UTF-8: count what would be sent in its place
    sendable = text.encode("utf-8", "replace").decode("utf-8")
    return len(_encoding().encode(sendable, disallowed_special=()))


@lru_cache(maxsize=1)
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding(ENCODING)
