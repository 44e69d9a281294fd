"""Compare the words of a question with the names in a code base."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePosixPath

from askcode.tokenizing import code_tokens, query_tokens

# How much a word counts that is a form of another (route, router, routing) beside an equal one.
RELATED = 0.55

_WORD = re.compile(r"[^\W\d]\w*")
_MARKED = re.compile(r"`([^`\n]+)`|([^\W\d]\w*)\(")
# maxBytes, max_bytes, HTTPServer, __init__
_IDENTIFIER = re.compile(r"_\w|[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words of a question that can lead to code."""

    tokens: tuple[str, ...]
    """Distinct, in order, without numbers."""
    identifiers: frozenset[str]
    """Folded names that the question means as names: by form, in backticks, or all it says."""


def read_words(question: str) -> AskedWords:
    """Return the words of a question."""
    tokens = tuple(token for token in dict.fromkeys(query_tokens(question)) if not token.isdigit())
    words = _WORD.findall(question)
    if len(question.split()) == 1:
        return AskedWords(tokens, frozenset(map(fold, words)))
    marked = {word for match in _MARKED.finditer(question) for word in _WORD.findall(match[0])}
    names = {fold(word) for word in words if word in marked or _IDENTIFIER.search(word)}
    return AskedWords(tokens, frozenset(names))


def fold(name: str) -> str:
    """Return a name as every naming convention would fold it."""
    return name.replace("_", "").replace("-", "").casefold()


def weigh_words(tokens: Collection[str], texts: Sequence[str]) -> dict[str, float]:
    """Return how much each word tells the lower-case texts apart: the rarer, the more."""
    return {
        token: math.log(1 + len(texts) / (1 + sum(token in text for text in texts)))
        for token in tokens
    }


def name_share(weights: Mapping[str, float], path: str) -> float:
    """Return the share in [0, 1] of the words that the file's name has, by weight."""
    total = sum(weights.values())
    if not total:
        return 0.0
    names = _name_tokens(path)
    found = (
        weight * max((_likeness(token, name) for name in names), default=0.0)
        for token, weight in weights.items()
    )
    return sum(found) / total


def last_names(definitions: Collection[str]) -> set[str]:
    """Return the folded last parts of qualified names: `Parser.parse` gives "parse"."""
    return {fold(re.split(r"[.:#]+", name.rstrip("?!="))[-1]) for name in definitions}


@lru_cache(maxsize=1 << 14)
def _name_tokens(path: str) -> frozenset[str]:
    return frozenset(code_tokens(PurePosixPath(path).stem))


@lru_cache(maxsize=1 << 16)
def _likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < 3:
        return 0.0
    common = common_start(shorter, longer)
    is_form = common == len(shorter) or (common >= 4 and len(longer) - common <= 3)
    return RELATED if is_form else 0.0


def common_start(one: str, other: str) -> int:
    """Return with how many characters both start alike."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in alike)
