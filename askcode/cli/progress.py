"""Show how far a run is: a bar on a terminal, a plain counter every few seconds elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from askcode.records import Usage
from askcode.terminal_text import escape_controls

if TYPE_CHECKING:
    from askcode.indexing import Progress as Step

# Often enough that a CI job shows life, seldom enough that its log stays short.
PLAIN_SECONDS = 10.0
# A file that takes longer is named, so that the user can leave it out.
SLOW_FILE_SECONDS = 30.0

Report = Callable[["Step"], None]


@contextmanager
def showing_progress(
    *, total_files: int, spent: Callable[[], Usage], is_quiet: bool
) -> Iterator[Report]:
    """Yield a function that takes each step of a run."""
    if is_quiet or total_files == 0:
        yield lambda step: None
    elif sys.stderr.isatty():
        with _bar(total_files, spent) as report:
            yield report
    else:
        with _counter(total_files, spent) as report:
            yield report


@contextmanager
def _bar(total_files: int, spent: Callable[[], Usage]) -> Iterator[Report]:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("indexing", total=total_files)

        def report(step: Step) -> None:
            bar.update(task, completed=step.files, description=_described(step, spent()))

        yield report


def _described(step: Step, usage: Usage) -> str:
    calls = f", {usage.calls} calls" if usage.calls else ""
    return f"indexing: {step.chunks} chunks{calls}"


@contextmanager
def _counter(total_files: int, spent: Callable[[], Usage]) -> Iterator[Report]:
    latest: list[Step] = []  # the last step, once there is one
    moved = [time.monotonic()]
    done = threading.Event()

    def tick() -> None:
        while not done.wait(PLAIN_SECONDS):
            waited_s = time.monotonic() - moved[0]
            print(_plain(latest[-1:], total_files, spent(), waited_s), file=sys.stderr)

    def report(step: Step) -> None:
        latest[:] = [step]
        moved[0] = time.monotonic()

    threading.Thread(target=tick, daemon=True).start()
    try:
        yield report
    finally:
        done.set()


def _plain(latest: list[Step], total_files: int, usage: Usage, waited_s: float) -> str:
    files = sum(step.files for step in latest)
    chunks = sum(step.chunks for step in latest)
    line = f"{files}/{total_files} files, {chunks} chunks, {usage.calls} LLM calls"
    if waited_s > SLOW_FILE_SECONDS and latest:
        line += f"; waiting {waited_s:.0f} s after {escape_controls(latest[0].path)}"
    return line
