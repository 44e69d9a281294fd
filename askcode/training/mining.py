"""Mine a source file: each definition with its doc comment, or with the words of its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from askcode.defining import definitions_of
from askcode.parts import Part, walk
from askcode.tokenizing import code_tokens
from askcode.training.doc_comments import split_doc
from askcode.training.pairs import DOC, NAME, Pair

LANGUAGES = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TypeScript",
    "go": "Go",
    "rust": "Rust",
    "java": "Java",
    "c": "C",
    "cpp": "C++",
    "ruby": "Ruby",
    "php": "PHP",
    "c_sharp": "C#",
}
"""The languages that are mined, by the names of their grammars."""

# A definition of fewer characters has nothing to learn from beside its name.
MIN_CODE_CHARS = 30
# A name of fewer words says too little ("run"), one of more is generated.
MIN_NAME_WORDS, MAX_NAME_WORDS = 2, 8
# The last component of a masked name, wherever it stands in the code.
MASK = "it"

_MAX_LINE_CHARS = 1000


def mine_source(package: str, path: str, language: str, text: str) -> Iterator[Pair]:
    """Yield the pairs of one file in the order of the text."""
    lines = text.split("\n")
    if max(map(len, lines)) > _MAX_LINE_CHARS:
        return  # minified, or data
    seen: set[tuple[int, int]] = set()
    for part in walk(definitions_of(language, lines)):
        place = (part.head_line, part.end_line)
        if place in seen:
            continue  # an export and what it exports
        seen.add(place)
        yield from _pairs_of(package, path, language, lines, part)


def _pairs_of(
    package: str, path: str, language: str, lines: Sequence[str], part: Part
) -> Iterator[Pair]:
    said, code = split_doc(language, lines, part)
    if len(code) < MIN_CODE_CHARS:
        return
    if said:
        yield Pair(said, code, DOC, LANGUAGES[language], package, path, part.name)
    elif part.end_line - part.head_line >= 3:
        yield from _named(package, path, language, part, code)


def _named(package: str, path: str, language: str, part: Part, code: str) -> Iterator[Pair]:
    name = re.split(r"[.:#]+", part.name)[-1]
    words = spoken_name(name)
    if not MIN_NAME_WORDS <= len(words.split()) <= MAX_NAME_WORDS:
        return
    body = re.sub(rf"\b{re.escape(name)}\b", MASK, code)
    if len(body) >= MIN_CODE_CHARS:
        yield Pair(words, body, NAME, LANGUAGES[language], package, path, part.name)


def spoken_name(name: str) -> str:
    """Return a name as words.

    >>> spoken_name("parseHTTPHeader")
    'parse http header'
    """
    tokens = code_tokens(name)
    whole = re.sub(r"[\W_]", "", name).casefold()
    return " ".join(token for token in tokens if token != whole)
