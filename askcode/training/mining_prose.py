"""Mine guides and changelogs: sections with the code they show, lines with what they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from askcode.training.doc_comments import code_of, plain_words
from askcode.training.pairs import CHANGE, DOC, GUIDE, Pair

MIN_WORDS = 4
MAX_WORDS = 60
MAX_CHANGES_PER_PACKAGE = 2000

CHANGELOG = re.compile(
    r"(?:changelog|changes|history|news|releases?)[\w-]*\.(?:md|rst|txt|markdown)"
)

_FENCE = re.compile(r"^\s*(?:```+|~~~+)\s*\{?\.?([\w+#-]*)")
_RST_BLOCK = re.compile(r"^\.\. (?:code-block|code|sourcecode)::\s*(\w*)")
_HEADING = re.compile(r"^#{1,6}\s+(.*)|^(\S.{2,80})$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+(.*)")
_NAMED = re.compile(r"`{1,2}(?:[\w.:~]*[.:~])?(\w{4,})(?:\(\))?`{1,2}")
_ALIASES = {
    "py": "Python", "python": "Python", "python3": "Python", "pycon": "Python", "js": "JavaScript",
    "javascript": "JavaScript", "jsx": "JavaScript", "node": "JavaScript", "ts": "TypeScript",
    "typescript": "TypeScript", "tsx": "TypeScript", "go": "Go", "golang": "Go", "rust": "Rust",
    "rs": "Rust", "java": "Java", "c": "C", "cpp": "C++", "c++": "C++", "cc": "C++",
    "ruby": "Ruby", "rb": "Ruby", "php": "PHP", "cs": "C#", "csharp": "C#",
}  # fmt: skip


def mine_guide(package: str, path: str, text: str) -> Iterator[Pair]:
    """Yield each code block of a guide with the heading and paragraph before it."""
    lines = text.split("\n")
    heading, paragraph = "", ""
    place = 0
    while place < len(lines):
        line = lines[place]
        fence, block = _FENCE.match(line), _RST_BLOCK.match(line)
        if fence or block:
            named = fence[1] if fence else block[1] if block else ""
            language = _ALIASES.get(named.lower(), "")
            inner = _fenced(lines, place) if fence else _indented(lines, place)
            place += len(inner) + (2 if fence else 1)
            yield from _guide_pair(package, path, language, f"{heading}. {paragraph}", inner)
            continue
        if line.startswith("#"):
            heading, paragraph = line.lstrip("# ").strip(), ""
        elif place + 1 < len(lines) and re.match(r"^[=\-~^]{4,}\s*$", lines[place + 1]):
            heading, paragraph = line.strip(), ""
        elif line.strip() and not re.match(r"^[=\-~^|]{3,}", line):
            before = lines[place - 1].strip() if place else ""
            paragraph = f"{paragraph} {line.strip()}" if before else line.strip()
        place += 1


def mine_changes(
    package: str, text: str, path: str, definitions: Mapping[str, Pair]
) -> Iterator[Pair]:
    """Yield the lines of a changelog with the definition of the package that they name."""
    count = 0
    for item in _items(text):
        for name in _NAMED.findall(item):
            found = definitions.get(name)
            words = plain_words(item)
            if found is None or not MIN_WORDS <= len(words.split()) <= MAX_WORDS:
                continue
            yield Pair(words, found.code, CHANGE, found.language, package, found.path, found.name)
            count += 1
            break
        if count >= MAX_CHANGES_PER_PACKAGE:
            return


def unique_definitions(pairs: Sequence[Pair]) -> dict[str, Pair]:
    """Return the definitions whose last name no other of the package has."""
    found: dict[str, Pair | None] = {}
    for pair in pairs:
        if pair.kind == DOC:
            name = re.split(r"[.:#]+", pair.name)[-1]
            found[name] = None if name in found else pair
    return {name: pair for name, pair in found.items() if pair is not None}


def _items(text: str) -> Iterator[str]:
    """Yield the items of lists, their lines joined."""
    item: list[str] = []
    for line in text.split("\n"):
        begun = _ITEM.match(line)
        if begun or not line.strip():
            if item:
                yield " ".join(item)
            item = [begun[1]] if begun else []
        elif item:
            item.append(line.strip())
    if item:
        yield " ".join(item)


def _fenced(lines: Sequence[str], place: int) -> list[str]:
    inner: list[str] = []
    for line in lines[place + 1 :]:
        if re.match(r"^\s*(?:```+|~~~+)\s*$", line):
            break
        inner.append(line)
    return inner


def _indented(lines: Sequence[str], place: int) -> list[str]:
    inner: list[str] = []
    for line in lines[place + 1 :]:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        inner.append("" if re.match(r"^\s+:\w+:", line) else line)
    return inner


def _guide_pair(
    package: str, path: str, language: str, said: str, inner: Sequence[str]
) -> Iterator[Pair]:
    words = plain_words(said.strip(". "))
    code = code_of([re.sub(r"^(?:>>>|\.\.\.) ?", "", line) for line in inner])
    if language and len(words.split()) >= MIN_WORDS and code.count("\n") >= 1:
        cut = " ".join(words.split()[:MAX_WORDS])
        yield Pair(cut, code, GUIDE, language, package, path)
