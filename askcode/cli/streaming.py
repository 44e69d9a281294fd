"""Show an answer while it arrives: raw into a pipe, rendered on a terminal.

On a terminal every finished block is printed once and scrolls away with the rest; only the
block still being written is drawn anew, line by line where a line changed, so that nothing
flickers, and no more of it than fits the screen, so that nothing is printed twice.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

from rich.console import Console

from askcode.cli.markdown import CodeMarkdown, LinkFor, no_link, parse
from askcode.terminal_text import ControlEscaper, escape_controls

# Faster than the eye tells apart, slow enough to leave the processor to others.
REDRAW_SECONDS = 0.06

_LINK_ID = re.compile(r"\x1b\]8;id=\d+;")


class AnswerStream(Protocol):
    """Show text that comes in pieces."""

    def __enter__(self) -> AnswerStream:
        """Start."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Show what is left, also when the stream broke off."""
        ...

    def feed(self, piece: str) -> None:
        """Show a piece."""
        ...


def open_stream(console: Console, *, link_for: LinkFor = no_link) -> AnswerStream:
    """Return the stream that suits the console: rendered on a terminal, else raw."""
    if console.is_terminal and not console.is_dumb_terminal:
        return MarkdownStream(console, link_for=link_for)
    return RawStream(console)


def print_markdown(console: Console, text: str, *, link_for: LinkFor = no_link) -> None:
    """Print a whole answer: rendered on a terminal, else raw."""
    with open_stream(console, link_for=link_for) as stream:
        if isinstance(stream, MarkdownStream):
            stream.print_whole(text)
        else:
            stream.feed(text)


class RawStream:
    """Write text as it arrives and flush it, controls escaped, ended by one line end."""

    def __init__(self, console: Console) -> None:
        self._file = console.file
        self._escaper = ControlEscaper()
        self._last = "\n"

    def __enter__(self) -> RawStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, BrokenPipeError):
            return
        self._write(self._escaper.finish())
        if self._last != "\n":
            self._write("\n")

    def feed(self, piece: str) -> None:
        """Write a piece."""
        self._write(self._escaper.feed(piece))

    def _write(self, text: str) -> None:
        if text:
            self._last = text[-1]
            self._file.write(text)
            self._file.flush()


class MarkdownStream:
    """Render Markdown block by block; the open block is drawn in place."""

    def __init__(
        self,
        console: Console,
        *,
        link_for: LinkFor = no_link,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._link_for = link_for
        self._clock = clock
        self._escaper = ControlEscaper()
        self._pending = ""
        self._is_first = True
        self._drawn: list[str] = []
        self._drawn_at = -REDRAW_SECONDS
        self._pause = REDRAW_SECONDS

    def __enter__(self) -> MarkdownStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pending += self._escaper.finish()
        self._print_blocks(self._pending)
        self._pending = ""

    def feed(self, piece: str) -> None:
        """Add a piece: print what it finished, draw what it left open."""
        self._pending += self._escaper.feed(piece)
        if "\n" in piece:
            done = _finished(self._pending)
            if done:
                finished, self._pending = self._pending[:done], self._pending[done:]
                self._print_blocks(finished)
        if self._clock() - self._drawn_at >= self._pause:
            self._draw_open()

    def print_whole(self, text: str) -> None:
        """Print a text that will not grow."""
        self._print_blocks(escape_controls(text))

    def _print_blocks(self, text: str) -> None:
        """Print finished text in place of what was drawn of it."""
        lines = self._rendered(text)
        self._redraw(lines)
        self._drawn = []
        self._is_first = self._is_first and not lines

    def _draw_open(self) -> None:
        started = self._clock()
        lines = self._rendered(self._pending)
        # one row stays for the cursor; the beginning of a higher block shows when it is done
        self._redraw(lines[-max(1, self._console.height - 1) :])
        self._drawn_at = self._clock()
        # a block of thousands of lines is drawn less often, so that it never holds up the stream
        self._pause = max(REDRAW_SECONDS, 4 * (self._drawn_at - started))

    def _rendered(self, text: str) -> list[str]:
        if not text.strip():
            return []
        markdown = CodeMarkdown(text, link_for=self._link_for)
        with self._console.capture() as capture:
            self._console.print(markdown)
        # a link's id is new in each rendering and would make every line of links a changed one
        text = _LINK_ID.sub("\x1b]8;;", capture.get().rstrip("\n"))
        lines = [line.rstrip(" ") for line in text.split("\n")]
        return lines if self._is_first else ["", *lines]

    def _redraw(self, lines: list[str]) -> None:
        """Write the lines that differ from those on the screen, all in one piece."""
        same = 0
        while same < min(len(lines), len(self._drawn)) and lines[same] == self._drawn[same]:
            same += 1
        if same == len(lines) == len(self._drawn):
            return
        up = len(self._drawn) - same
        # a line is cleared before it is written: behind a full line the cursor hangs on its
        # last column, where clearing would take a character away
        text = (f"\x1b[{up}A" if up else "") + "".join(
            f"\r\x1b[K{line}\r\n" for line in lines[same:]
        )
        if len(lines) < len(self._drawn):
            text += "\r\x1b[J"
        self._console.file.write(text)
        self._console.file.flush()
        self._drawn = lines


def _finished(text: str) -> int:
    """Return the length of the blocks that no later text can change.

    A block is finished when the first line of the next one is whole: until then `2` may
    become `2.`, the next item of the list before it.
    """
    whole = text[: text.rfind("\n") + 1]
    starts = [token.map[0] for token in parse(whole) if token.level == 0 and token.map]
    if len(set(starts)) < 2:
        return 0
    lines = whole.split("\n")
    return sum(len(line) + 1 for line in lines[: max(starts)])
