"""Ask before many calls to a language model; a script has to say so beforehand."""

from __future__ import annotations

import sys

import typer

from askcode.errors import UsageError

# More calls than anybody wants to make by mistake; about a minute of a fast endpoint.
CONFIRM_CALLS = 200


def confirm_calls(calls: int, *, hint: str, otherwise: str) -> None:
    """Return where so many calls may be made.

    Raises:
        UsageError: they were declined (`otherwise` is the hint), or nobody is there to be
            asked (`hint` is).
    """
    if calls <= CONFIRM_CALLS:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"this run would make {calls} LLM calls", hint=hint)
    if not typer.confirm(f"Make {calls} LLM calls?", err=True):
        raise UsageError("nothing was done", hint=otherwise)
