"""Measure time and memory of the commands, as ratios within one run.

    python -m tests.eval.bench_speed

The tree is the interpreter's own library, copied until it has enough lines.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from askcode.protocols import Embedder
from askcode.records import EmbedderIdentity, Vectors
from askcode.sessions import indexing, without_llm
from askcode.settings import load_settings

LINES, MANY_LINES = 100_000, 500_000
RUNS = 5
CHANGES = 100


class TimedEmbedder:
    """An embedder that knows how long it worked."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.seconds = 0.0

    @property
    def identity(self) -> EmbedderIdentity:
        return self._inner.identity

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        started = time.monotonic()
        vectors = self._inner.embed_passages(texts)
        self.seconds += time.monotonic() - started
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_queries(texts)


def make_tree(place: Path, lines: int) -> int:
    """Copy library files below place until they have so many lines; return how many."""
    library = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    copied = turn = 0
    while copied < lines:
        turn += 1
        for path in files:
            text = path.read_bytes()
            target = place / f"copy{turn}" / path.relative_to(library)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            copied += text.count(b"\n")
            if copied >= lines:
                break
    return copied


def seconds_outside_embedder(root: Path) -> tuple[float, float]:
    """Index a tree; return the seconds outside and inside the embedding model."""
    settings = load_settings(root, environment={})
    started = time.monotonic()
    with indexing(settings, root, without_llm()) as session:
        timed = TimedEmbedder(session.indexer.embedder)
        indexer = replace(session.indexer, embedder=timed)
        indexer.run(indexer.survey())
    return time.monotonic() - started - timed.seconds, timed.seconds


def median_seconds(*command: str, cwd: Path) -> float:
    """Run a command a few times after a warm-up; return the median of its wall seconds."""
    times = []
    for _ in range(RUNS + 1):
        started = time.monotonic()
        subprocess.run([sys.executable, *command], cwd=cwd, check=True, capture_output=True)
        times.append(time.monotonic() - started)
    return statistics.median(times[1:])


def print_ratios(root: Path) -> None:
    """Print how long the commands take beside the bare import of the store."""
    bare = median_seconds("-c", "import lancedb", cwd=root)
    load = median_seconds("-c", LOAD_EMBEDDER, cwd=root) - median_seconds("-c", "", cwd=root)
    print(f"import lancedb {bare:.2f} s, embedding model with its imports {load:.2f} s")
    base = bare + load
    for name, command in (
        ("index, nothing changed", ("index",)),
        ("search", ("search", "how is a file opened")),
        ("status", ("status",)),
    ):
        taken = median_seconds("-m", "askcode", *command, cwd=root)
        print(f"{name}: {taken:.2f} s, {taken / base:.2f} of import and model (at most 1.5)")
    taken = median_seconds("-m", "askcode", "--help", cwd=root)
    print(f"--help: {taken:.2f} s, {taken / bare:.2f} of the import (at most 0.5)")


LOAD_EMBEDDER = """
from askcode.adapters.fastembed_models import bundled_embedder
bundled_embedder().embed_queries(["x"])
"""


def print_growth(root: Path) -> None:
    """Change one file many times; print how the index grew."""
    target = next(root.rglob("*.py"))
    text = target.read_text(encoding="utf-8", errors="replace")
    before = size_of(root / ".askcode")
    for number in range(CHANGES):
        target.write_text(f"{text}\n# change {number}\n", encoding="utf-8")
        subprocess.run(
            [sys.executable, "-m", "askcode", "index", "-q"],
            cwd=root,
            check=True,
            capture_output=True,
        )
    after = size_of(root / ".askcode")
    print(f"{CHANGES} runs with one change each: index {after / before:.2f} times its first size")


def size_of(place: Path) -> int:
    """Return the bytes of all files below a place."""
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        lines = make_tree(root, LINES)
        outside, inside = seconds_outside_embedder(root)
        print(
            f"{lines:,} lines: {outside:.1f} s outside the embedding model "
            f"(at most 10 per 100,000), {inside:.1f} s inside"
        )
        print_ratios(root)
        print_growth(root)
        shutil.rmtree(root)
        lines = make_tree(root, MANY_LINES)
        subprocess.run([sys.executable, "-m", "askcode", "index", "-q"], cwd=root, check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
        print(f"{lines:,} lines: peak memory {peak:.2f} GB (at most 1)")


if __name__ == "__main__":
    main()
