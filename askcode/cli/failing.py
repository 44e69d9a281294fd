"""Turn errors into one line, a hint and an exit code; let bugs keep their traceback."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from askcode.errors import AskcodeError
from askcode.terminal_text import escape_controls

EXIT_INTERNAL, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_TERMINATED, EXIT_PIPE = 1, 2, 130, 143, 141


class Terminated(KeyboardInterrupt):
    """Report SIGTERM the way Python reports SIGINT, so that both end a run alike."""


def run_guarded(command: Callable[[], object]) -> int:
    """Run a command and return its exit code; errors are told on stderr."""
    _make_streams_lenient()
    signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        code = _exit_code_of(command)
        sys.stdout.flush()
    except BrokenPipeError:
        code = EXIT_PIPE
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        code = EXIT_PIPE
    if code == EXIT_PIPE:
        _drop_output()
    return code


def _exit_code_of(command: Callable[[], object]) -> int:
    try:
        result = command()
    except AskcodeError as error:
        tell_error(error)
        return error.exit_code
    except typer.Exit as error:
        return error.exit_code
    except TyperException as error:
        _tell_usage(error)
        return error.exit_code
    except typer.Abort:
        _tell("interrupted")
        return EXIT_INTERRUPTED
    except Terminated:
        _tell("terminated")
        return EXIT_TERMINATED
    except KeyboardInterrupt:
        _tell("interrupted")
        return EXIT_INTERRUPTED
    except OSError as error:
        return _tell_os_error(error)
    return result if isinstance(result, int) else 0


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
    if isinstance(error, BrokenPipeError) or error.errno == errno.EPIPE:
        raise error
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
