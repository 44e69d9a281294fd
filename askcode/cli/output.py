"""Write to stdout and stderr: results to the one, all else to the other."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping

from rich.console import Console

from askcode.terminal_text import escape_controls


def open_console() -> Console:
    """Return what draws on stdout; not a terminal is none, also where colour is forced."""
    # FORCE_COLOR would send cursor movements and links into a pipe
    is_terminal = None if sys.stdout.isatty() else False
    return Console(soft_wrap=is_terminal is False, highlight=False, force_terminal=is_terminal)


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON object on stdout; every character outside ASCII as an escape."""
    print(json.dumps(value))


def print_lines(lines: Iterable[str], *, to_stderr: bool = False) -> None:
    """Print lines as they are, without wrapping."""
    stream = sys.stderr if to_stderr else sys.stdout
    for line in lines:
        print(escape_controls(line), file=stream)


def note(text: str) -> None:
    """Print a remark on stderr."""
    print(f"askcode: {escape_controls(text)}", file=sys.stderr)
