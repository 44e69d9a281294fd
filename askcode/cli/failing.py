"""Turn errors into one line, a hint and an exit code; let bugs keep their traceback."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from askcode.errors import AskcodeError
from askcode.terminal_text import escape_controls

EXIT_INTERNAL, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_TERMINATED, EXIT_PIPE = 1, 2, 130, 143, 141


class Terminated(KeyboardInterrupt):
    """Report SIGTERM the way Python reports SIGINT, so that both end a run alike."""


class GuardedGroup(TyperGroup):
    """Give each error its exit code before the framework gives it one of its own."""

    def invoke(self, ctx: Any) -> Any:  # the framework's own context, not the public one
        """Run the command; what it raises is told on stderr."""
        try:
            return super().invoke(ctx)
        except AskcodeError as error:
            tell_error(error)
            raise typer.Exit(error.exit_code) from error
        except Terminated as error:
            _tell("terminated")
            raise typer.Exit(EXIT_TERMINATED) from error
        except (KeyboardInterrupt, typer.Abort) as error:
            _tell("interrupted")
            raise typer.Exit(EXIT_INTERRUPTED) from error
        except OSError as error:
            raise typer.Exit(_tell_os_error(error)) from error


def run_guarded(command: Callable[[], object]) -> int:
    """Run the framework's entry point and return the exit code."""
    _make_streams_lenient()
    signal.signal(signal.SIGTERM, _raise_terminated)
    # a script's shell starts its background jobs deaf to SIGINT, also to one meant for them
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = command()
        sys.stdout.flush()
        code = result if isinstance(result, int) else 0
    except TyperException as error:
        _tell_usage(error)
        code = error.exit_code
    except OSError as error:
        code = _tell_os_error(error)
    if code == EXIT_PIPE:
        _drop_output()
    return code


def tell_error(error: AskcodeError) -> None:
    """Print an expected error: message, hint, and under --debug where it came from."""
    if DEBUG.is_on:
        traceback.print_exception(error, file=sys.stderr)
    _tell(error.message)
    if error.hint:
        print(f"  hint: {escape_controls(error.hint)}", file=sys.stderr)


class Debug:
    """Whether expected errors show their traceback, set once by --debug."""

    is_on = False


DEBUG = Debug()


def _tell(message: str) -> None:
    print(f"askcode: {escape_controls(message)}", file=sys.stderr)


def _tell_usage(error: TyperException) -> None:
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    if not message and context is not None:
        print(context.get_help(), file=sys.stderr)
        return
    _tell(message)
    command = context.command_path if context is not None else "askcode"
    print(f"  hint: {command} --help", file=sys.stderr)


def _tell_os_error(error: OSError) -> int:
    if error.errno == errno.EPIPE:
        return EXIT_PIPE
    if DEBUG.is_on:
        traceback.print_exception(error, file=sys.stderr)
    place = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, (str, bytes)) else ""
    _tell(f"{(error.strerror or str(error)).lower()}{place}")
    return EXIT_INTERNAL


def _raise_terminated(signal_number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def _make_streams_lenient() -> None:
    """Let no character that the terminal's encoding lacks end a run."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Point stdout at nothing, so that the interpreter's last flush stays quiet."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, sys.stdout.fileno())
    finally:
        os.close(nothing)
