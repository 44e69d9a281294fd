"""Measure time, memory and storage of whole commands on generated trees.

python -m tests.eval.bench_speed [--lines N] [--runs N]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from askcode.local_place import LocalPlace
from askcode.protocols import Embedder
from askcode.records import EmbedderIdentity, Vectors
from askcode.sessions import indexing, without_llm
from askcode.wiring import index_bytes
from tests.eval.bench import settings_for
from tests.eval.generating import file_path, file_text, write_tree
from tests.eval.questions import work_folder
from tests.eval.scoring import percentile

REPEATS = 5
RATE_LINES = 100_000
STORAGE_FILES = 120

LOAD_EMBEDDER = (
    "from askcode.adapters.fastembed_models import bundled_embedder;"
    "bundled_embedder().embed_queries(['x'])"
)


@dataclass
class TimedEmbedder:
    """Pass everything on to an embedder and add up what it takes."""

    inner: Embedder
    seconds: float = 0.0

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the inner model's."""
        return self.inner.identity

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count as the inner model does; this belongs to chunking."""
        return self.inner.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed and take the time."""
        started = time.perf_counter()
        vectors = self.inner.embed_passages(texts)
        self.seconds += time.perf_counter() - started
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed as the inner model does."""
        return self.inner.embed_queries(texts)


def fresh_tree(name: str, *, lines: int) -> Path:
    """Write a tree of that many lines in the work folder."""
    root = work_folder() / "speed" / name
    shutil.rmtree(root, ignore_errors=True)
    write_tree(root, lines=lines)
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def run_python(*words: str) -> float:
    """Run Python with some arguments; return the seconds."""
    environment = {name: value for name, value in os.environ.items() if "OPENAI" not in name}
    started = time.perf_counter()
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr.decode('utf-8', 'replace')}")
    return time.perf_counter() - started


def best_of(*words: str) -> float:
    """Return the least seconds of several runs: what others do on the machine only adds."""
    return min(run_python(*words) for _ in range(REPEATS))


def print_rate() -> None:
    """Print what indexing takes beside the embedding model."""
    root = fresh_tree("rate", lines=RATE_LINES)
    settings = settings_for(root, root.parent / "rate-index")
    shutil.rmtree(root.parent / "rate-index", ignore_errors=True)
    with indexing(settings, root, without_llm()) as session:
        embedder = TimedEmbedder(session.indexer.embedder)
        indexer = replace(session.indexer, embedder=embedder)
        started = time.perf_counter()
        session.keep(indexer.run(indexer.survey()))
        seconds = time.perf_counter() - started
    print(
        f"index, per 100,000 lines: {seconds - embedder.seconds:.1f} s outside the embedder "
        f"(at most 10), {embedder.seconds:.1f} s in it"
    )


def print_memory(lines: int) -> None:
    """Print the peak memory of indexing one large tree."""
    root = fresh_tree("memory", lines=lines)
    seconds = run_python("-m", "askcode", "index", str(root), "--no-llm", "-q")
    # the largest of all children so far, which this one is
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"index, {lines} lines: {seconds:.0f} s, peak memory {peak:.0f} MB (at most 1024)")


def print_commands() -> None:
    """Print what short commands take beside the imports that they cannot do without."""
    root = fresh_tree("commands", lines=20_000)
    run_python("-m", "askcode", "index", str(root), "--no-llm", "-q")
    bare = best_of("-c", "import lancedb")
    loaded = best_of("-c", f"import lancedb;{LOAD_EMBEDDER}")
    print(f"import lancedb {bare:.2f} s, with the embedder loaded {loaded:.2f} s")
    place = ("-C", str(root))
    for name, words, limit, base in (
        ("index, unchanged", ("index", str(root), "--no-llm", "-q"), 1.5, loaded),
        ("search", ("search", "how is it made", *place), 1.5, loaded),
        ("status", ("status", str(root)), 1.5, loaded),
        ("--help", ("--help",), 0.5, bare),
    ):
        seconds = best_of("-m", "askcode", *words)
        print(f"{name:18} {seconds:.2f} s, {seconds / base:.2f} times (at most {limit})")


def print_storage(runs: int) -> None:
    """Print what many small runs leave behind, beside a fresh index."""
    root = fresh_tree("storage", lines=STORAGE_FILES * 300)
    place = root.parent / "storage-index"
    shutil.rmtree(place, ignore_errors=True)
    settings = settings_for(root, place)
    _index(root, settings)
    before = _query_ms(root, place)
    for run in range(runs):
        number = run % STORAGE_FILES
        (root / file_path(number)).write_text(file_text(run + 100_000, 25), "utf-8")
        _index(root, settings)
    worn = index_bytes(LocalPlace(place))
    after = _query_ms(root, place)
    shutil.rmtree(place)
    _index(root, settings)
    fresh = index_bytes(LocalPlace(place))
    print(
        f"after {runs} runs: {worn / 1e6:.1f} MB, {worn / fresh:.2f} times a fresh index "
        f"(at most 2); query p50 {before:.1f} ms before, {after:.1f} ms after"
    )


def _index(root: Path, settings) -> None:
    with indexing(settings, root, without_llm()) as session:
        session.keep(session.indexer.run(session.indexer.survey()))


def _query_ms(root: Path, place: Path) -> float:
    from askcode.records import Question
    from askcode.wiring import make_retriever, open_index
    from tests.eval.generating import questions

    settings = settings_for(root, place)
    retriever = make_retriever(open_index(settings, root), settings)
    times = []
    for text in questions(40, files=STORAGE_FILES):
        started = time.perf_counter()
        retriever.retrieve(Question(text, (text,)), k=10)
        times.append((time.perf_counter() - started) * 1000)
    return percentile(times, 0.5)


def main() -> None:
    """Print every figure with its limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=500_000, help="of the tree for peak memory")
    parser.add_argument("--runs", type=int, default=100, help="of the storage figure")
    asked = parser.parse_args()
    print_rate()
    print_commands()
    print_storage(asked.runs)
    print_memory(asked.lines)


if __name__ == "__main__":
    main()
