"""Read the comments that a file opens with, in whatever language."""

from __future__ import annotations

import re

# Where tools put their marks; a licence of common length may come first.
MAX_LINES = 60
MAX_CHARACTERS = 6000

_LEADERS = re.compile(
    r"\s*(?://+[!/]?|\#+(?!\[)|/\*+!?|\*+(?=\s|/|$)|--+|;+|%+|<!--|\{-|\(\*|'(?=\s)|\"(?=\s)|"
    r"dnl\b|rem\b|@rem\b|::|\.\.(?=\s)|[rbu]?\"\"\"|[rbu]?'''|=begin|\{\#|<%--)(.*)",
    re.IGNORECASE,
)
_PROSE_LEADERS = re.compile(r"\s*(?:<!--|\.\.(?=\s)|\[//\]:)(.*)")
_PROSE = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".org", ".textile")
_BLOCKS = (
    ("/*", "*/"), ("<!--", "-->"), ('"""', '"""'), ("'''", "'''"), ("{-", "-}"), ("(*", "*)"),
    ("=begin", "=end"), ("<%--", "--%>"),
)  # fmt: skip
# What holds a text of several lines: a comment in it is part of the text.
_QUOTES = ('"""', "'''", "`")


def opening_comments(path: str, text: str) -> str:
    """Return the text of the comment lines at a file's head, one a line, without their signs.

    Neighbouring lines of code end a paragraph: an empty line stands for them. In prose only
    comments of the markup count, since a `#` is a heading there.
    """
    leaders = _PROSE_LEADERS if path.lower().endswith(_PROSE) else _LEADERS
    found: list[str] = []
    closing = literal = ""
    for line in text[:MAX_CHARACTERS].split("\n")[:MAX_LINES]:
        if closing:
            found.append(line.strip().lstrip("*").strip())
            closing = "" if closing in line else closing
            continue
        if literal:
            literal = "" if literal in line else literal
            continue
        comment = leaders.match(line)
        found.append(comment[1].strip() if comment else "")
        if comment:
            closing = _left_open(line)
        else:
            literal = next((quote for quote in _QUOTES if line.count(quote) % 2), "")
    return "\n".join(found)


def _left_open(line: str) -> str:
    """Return what ends the comment block that a line opens and does not close."""
    stripped = line.strip()
    for opening, closing in _BLOCKS:
        place = stripped.find(opening)
        if 0 <= place <= 1 and closing not in stripped[place + len(opening) :]:
            return closing
    return ""
