"""Turn code and questions into the lower-case words that full-text search compares.

An identifier gives itself, without its separators, and its parts, so that `maxBytes`, `max_bytes`,
`max-bytes` and "max bytes" all meet:

    >>> code_tokens("HTTPServer.max_bytes = 2")
    ['httpserver', 'http', 'server', 'maxbytes', 'max', 'bytes', '2']
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Python's \w leaves out the vowel signs of the Indic and South-East Asian scripts and the points
# of Hebrew and Arabic, without which their words fall apart.
_LETTERS = r"\w\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u109f\u1780-\u17d3"
_WORD = re.compile(rf"[{_LETTERS}]+(?:-(?=[^\W\d_])[{_LETTERS}]+)*")

# Scripts written without blanks between words, and Hangul, whose endings join the word.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

_PART = re.compile(
    r"[A-Z]{2,}s(?![a-z])"  # URLs
    r"|[A-Z]{2,}v\d+"  # IPv6
    r"|[A-Z]+(?=[A-Z][a-z])"  # HTTP in HTTPServer
    r"|[A-Z]?[a-z]+\d*"
    r"|[A-Z]+\d*"
    r"|\d+"
)
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d]+")

# Words that English questions are built of and that say nothing about what is looked for.
_STOP_WORDS = """
    a about after all also an and any are as at be been being between but by can could did do
    does doing done for from get gets give given had has have how i if in into is it its let made
    make makes may me might must my of off on one or our over own please shall should show so
    some such tell than that the their them then there these they this those through to under
    up us used uses using via was we were what when where which while who whose why will with
    within without would you your explain describe find happen happens work works code
    codebase repository repo project
"""
_IS_STOP_WORD = frozenset(_STOP_WORDS.split())


def code_tokens(text: str) -> list[str]:
    """Return the words of a text in order, each identifier whole and in its parts."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    tokens: list[str] = []
    for word in _WORD.findall(text):
        tokens += _tokens_of(word)
    return tokens


def query_tokens(text: str) -> list[str]:
    """Return the words of a question, those of the question form left out if others remain."""
    tokens = code_tokens(text)
    return [token for token in tokens if token not in _IS_STOP_WORD] or tokens


@lru_cache(maxsize=1 << 17)
def _tokens_of(word: str) -> tuple[str, ...]:
    """Return the tokens of one word, the whole first."""
    if not word.isascii():
        return tuple(_tokens_of_unspaced(word))
    return tuple(_whole_and_parts(word, _PART.findall(word)))


def _whole_and_parts(word: str, parts: list[str]) -> list[str]:
    whole = word.replace("_", "").replace("-", "").casefold()
    tokens = [whole] if whole else []
    for part in parts:
        pieces = _LETTERS_OR_DIGITS.findall(part)
        for piece in [part, *pieces] if len(pieces) > 1 else [part]:
            folded = piece.casefold()
            # a single letter of a longer word (the I of IFile) matches everything
            if folded != whole and (len(folded) > 1 or folded.isdigit()):
                tokens.append(folded)
    return tokens


def _tokens_of_unspaced(word: str) -> list[str]:
    """Return the tokens of a word with letters beyond ASCII."""
    tokens: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        tokens += _tokens_of_other(word[end : run.start()])
        tokens += _bigrams(run.group())
        end = run.end()
    return tokens + _tokens_of_other(word[end:])


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


def _tokens_of_other(word: str) -> list[str]:
    if word.isascii():
        return list(_tokens_of(word)) if word else []
    parts = [part for piece in re.split(r"[_-]+", word) for part in _split_case(piece)]
    return _whole_and_parts(word, parts)


def _split_case(word: str) -> list[str]:
    """Split before a capital that follows a small letter, in any script."""
    cuts = [i for i in range(1, len(word)) if word[i].isupper() and word[i - 1].islower()]
    return [word[a:b] for a, b in zip([0, *cuts], [*cuts, len(word)], strict=True) if a < b]
