"""Find the sections of Markdown, reStructuredText and their like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from askcode.parts import Part

_FRONT_MATTER = ("---", "+++")
_ADORNMENT = re.compile(r"([=\-`:.'\"~^_*+#<>!$%&(),/;?@\[\]{|}\\])\1+\s*$")
_MARKS = {"asciidoc": re.compile(r"(={1,6})\s+(\S.*)"), "org": re.compile(r"(\*{1,8})\s+(\S.*)")}
_MAX_TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class _Heading:
    line: int
    level: int
    title: str


def sections_of(language: str | None, lines: Sequence[str]) -> list[Part]:
    """Return the sections of a text, nested: named by their headings, `Guide > Install`."""
    if language == "markdown":
        headings = _markdown_headings(lines)
    elif language == "rst":
        headings = _rst_headings(lines)
    elif language in _MARKS:
        headings = _marked_headings(_MARKS[language], lines)
    else:
        headings = []
    return _nested(headings, len(lines))


def _nested(headings: Sequence[_Heading], last_line: int) -> list[Part]:
    top = Part("", 1, last_line, 1)
    open_parts: list[tuple[int, Part]] = [(0, top)]
    for heading in headings:
        while open_parts[-1][0] >= heading.level:
            open_parts.pop()[1].end_line = heading.line - 1
        owner = open_parts[-1][1]
        name = f"{owner.name} > {heading.title}" if owner.name else heading.title
        part = Part(name, heading.line, last_line, heading.line, len(open_parts))
        owner.parts.append(part)
        open_parts.append((heading.level, part))
    return top.parts


def _markdown_headings(lines: Sequence[str]) -> list[_Heading]:
    from markdown_it import MarkdownIt

    skipped = _front_matter_lines(lines)
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).disable("inline")
    # The parser counts lines as we do only when no other line ends are left.
    body = [re.sub(r"[\r\v\f\x1c-\x1e\x85\u2028\u2029]", " ", line) for line in lines[skipped:]]
    tokens = parser.parse("\n".join(body))
    headings = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map is not None:
            title = _title(inline.content)
            if title:
                line = opening.map[0] + skipped + 1
                headings.append(_Heading(line, int(opening.tag[1:]), title))
    return headings


def _front_matter_lines(lines: Sequence[str]) -> int:
    """Return how many lines the metadata at the head of a file takes, its fences included."""
    if not lines or lines[0].rstrip() not in _FRONT_MATTER:
        return 0
    fence = lines[0].rstrip()
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() == fence:
            return number
    return 0


def _title(text: str) -> str:
    """Return a heading's text in one line, without marks, links' targets and anchors."""
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text)
    text = re.sub(r"\s*\{#[^}]*\}\s*$|<[^<>]*>", "", text)
    text = " ".join(text.replace("`", "").replace("**", "").split())
    return text[:_MAX_TITLE_CHARS]


def _rst_headings(lines: Sequence[str]) -> list[_Heading]:
    """Return the titles with a line of one repeated character below, and perhaps above.

    Levels are given in the order in which the styles of such lines appear.
    """
    styles: list[str] = []
    headings = []
    for place in range(1, len(lines)):
        title, style = lines[place - 1].rstrip(), _style(lines, place)
        if style is None:
            continue
        if style not in styles:
            styles.append(style)
        begin = place - 1 if len(style) == 2 else place
        headings.append(_Heading(begin, styles.index(style) + 1, _title(title.strip())))
    return headings


def _style(lines: Sequence[str], place: int) -> str | None:
    """Return the character of the line below a title, twice when it is above as well."""
    title, below = lines[place - 1].rstrip(), lines[place].rstrip()
    if not title.strip() or _ADORNMENT.match(title) or not _ADORNMENT.match(below):
        return None
    above = lines[place - 2].rstrip() if place > 1 else ""
    if above and above == below:
        return below[0] * 2
    if above.strip() or title[0].isspace() or len(below) < min(len(title), 4):
        return None  # a paragraph, a table or a block that is not a title
    return below[0]


def _marked_headings(mark: re.Pattern[str], lines: Sequence[str]) -> list[_Heading]:
    headings = []
    for number, line in enumerate(lines, 1):
        found = mark.match(line)
        if found:
            headings.append(_Heading(number, len(found[1]), _title(found[2])))
    return headings
