"""Make the places in printed lines clickable on terminals that know OSC 8."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from rich.console import Console
from rich.text import Text

from askcode.repositories import Roots
from askcode.terminal_text import escape_controls, escape_line

# Where a path stands in our lines: at the start, behind a bullet, a rank or an excerpt number.
_LEAD = re.compile(r"\s*(?:- |\d+\. |\[\d+\] )?")
_LINE = re.compile(r":(\d+)-\d+|\s+\((\d+)-\d+")


def print_linked(
    console: Console, lines: Iterable[str], *, roots: Roots, paths: Sequence[str]
) -> None:
    """Print lines as they are, each shown path of them linked to its file and line.

    Without a terminal this prints the plain lines: no colour, no link, no wrapping.
    """
    longest_first = sorted(set(paths), key=len, reverse=True)
    for line in lines:
        text = linked(escape_controls(line), roots=roots, paths=longest_first)
        if console.is_terminal:
            console.print(text, soft_wrap=True, highlight=False, markup=False, emoji=False)
        else:
            console.file.write(f"{text.plain}\n")


def linked(line: str, *, roots: Roots, paths: Sequence[str]) -> Text:
    """Return a line with the path it begins with linked; the longest of the paths comes first."""
    text = Text(line)
    lead = _LEAD.match(line)
    start = lead.end() if lead else 0
    for path in paths:
        shown = escape_line(path)
        if line.startswith(shown, start):
            place = _LINE.match(line, start + len(shown))
            end = start + len(shown)
            if place and place[1]:
                end = place.end()
            number = (place[1] or place[2]) if place else ""
            text.stylize(f"link {file_url(roots, path, number)}", start, end)
            break
    return text


def file_url(roots: Roots, path: str, line: str = "") -> str:
    """Return the URL of a file, with the line as most editors' terminals take it."""
    place = roots.locate(path)
    target = quote(f"{place.root}/{place.path}".encode("utf-8", "surrogateescape"))
    return f"file://{target}" + (f"#{line}" if line else "")
