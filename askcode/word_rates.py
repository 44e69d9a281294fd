"""Know how often a word stands in ordinary code, in any of its forms.

`word_rates.tsv` has the roots of the words that at least two in ten thousand definitions of
many packages hold, counted by `askcode.training.word_rates` in the packages that the embedding
model is trained on.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

import snowballstemmer

from askcode.wording import common_start

LEAST = 2e-4
"""The least share of definitions that a word in the list stands in."""

UNIT = 100_000
"""The list counts in so many definitions."""

SHORTEST_ROOT = 3

_LIST = Path(__file__).with_name("word_rates.tsv")


_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 16)
def root(word: str) -> str:
    """Return the part of a lower-case word that its forms share: "quer" of queries and query."""
    # the stemmer writes an i for the y of query
    length = common_start(word, _STEMMER.stemWord(word).removesuffix("i"))
    return word[:length] if length >= SHORTEST_ROOT else word


def rate(root: str) -> float:
    """Return the share in [0, 1] of definitions in ordinary code that have a word of this root.

    It is 0.0 for one that is rarer than LEAST.
    """
    return _rates().get(root, 0) / UNIT


@cache
def _rates() -> dict[str, int]:
    lines = _LIST.read_text("utf-8").splitlines()
    return {word: int(count) for word, count in (line.split("\t") for line in lines)}
