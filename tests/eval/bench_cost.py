"""Measure what indexing costs per 1,000 chunks: processor time by stage, bytes, calls, tokens.

python -m tests.eval.bench_cost PATH [PATH...]

Calls and tokens are those that a run with questions would make through an endpoint; none is
made.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from askcode.describing import ChunkedFile
from askcode.indexing import Indexer, make_rows
from askcode.local_place import LocalPlace
from askcode.protocols import Embedder
from askcode.records import EmbedderIdentity, SourceFile, Vectors
from askcode.scanning import list_files, read_file
from askcode.sessions import IndexWanted, indexing, look, without_llm
from askcode.settings import load_settings
from askcode.wiring import index_bytes
from tests.eval.questions import work_folder

FILES_PER_BATCH = 64


class Clock:
    """Add up processor seconds by stage."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what the block takes."""
        started = time.process_time()
        yield
        self.seconds[name] += time.process_time() - started


class ClockedEmbedder:
    """Pass everything on to an embedder; count what it takes as a stage."""

    def __init__(self, inner: Embedder, clock: Clock) -> None:
        self.inner = inner
        self.clock = clock

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the inner model's."""
        return self.inner.identity

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count as the inner model does."""
        return self.inner.count_tokens(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed as a stage of its own."""
        with self.clock.stage("embed"):
            return self.inner.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed as the inner model does."""
        return self.inner.embed_queries(texts)


def measure(root: Path, clock: Clock, totals: Counter[str]) -> None:
    """Index one tree, stage by stage."""
    place = work_folder() / "cost"
    shutil.rmtree(place, ignore_errors=True)
    settings = load_settings(root, {"index_dir": str(place)}, environment={}, user_file=place)
    with indexing(settings, root, without_llm()) as session:
        indexer = session.indexer
        assert isinstance(indexer, Indexer)
        embedder = ClockedEmbedder(indexer.embedder, clock)
        with clock.stage("scan"):
            files = _read(indexer)
        with clock.stage("chunk"):
            chunked = [ChunkedFile(file, tuple(indexer.chunker.chunk(file))) for file in files]
        for start in range(0, len(chunked), FILES_PER_BATCH):
            with clock.stage("describe"):
                batch = chunked[start : start + FILES_PER_BATCH]
                described = list(indexer.describer.describe(batch))
            with clock.stage("rows"):
                rows = make_rows(described, embedder)
            with clock.stage("store"):
                indexer.store.replace(rows)
        with clock.stage("store"):
            indexer.store.finish()
    totals["files"] += len(chunked)
    totals["chunks"] += sum(len(file.chunks) for file in chunked)
    totals["lines"] += sum(file.file.text.count("\n") for file in chunked)
    totals["bytes"] += index_bytes(LocalPlace(place))
    _plan(root, clock, totals)


def _read(indexer: Indexer) -> list[SourceFile]:
    listing = list_files(indexer.root, indexer.rules, index_dir=indexer.index_dir)
    read = (read_file(indexer.root, path, indexer.rules) for path in listing.paths)
    return [file for file in read if isinstance(file, SourceFile)]


def _plan(root: Path, clock: Clock, totals: Counter[str]) -> None:
    """Count what a language model would be asked, as `index --dry-run` does."""
    empty = work_folder() / "cost-plan"
    shutil.rmtree(empty, ignore_errors=True)
    settings = load_settings(
        root,
        {"index_dir": str(empty), "provider": "openai", "api_key": "none"},
        environment={},
        user_file=empty,
    )
    wanted: IndexWanted = replace(without_llm(), use_llm=True)
    seen = look(settings, root, wanted, must_exist=False).indexer
    survey = seen.survey()
    with clock.stage("plan"):
        estimate = seen.plan(survey).estimate
    totals["calls"] += estimate.calls
    totals["input tokens"] += estimate.input_tokens
    totals["output tokens"] += estimate.output_tokens


def main() -> None:
    """Print the cost over some trees per 1,000 chunks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    clock, totals = Clock(), Counter[str]()
    for path in parser.parse_args().paths:
        measure(path.resolve(), clock, totals)
    thousands = totals["chunks"] / 1000
    # what a batch takes beside the embedding: texts to embed, words to search
    clock.seconds["rows"] -= clock.seconds["embed"]
    print(f"{totals['files']} files, {totals['lines']} lines, {totals['chunks']} chunks")
    print("per 1,000 chunks:")
    for stage in ("scan", "chunk", "describe", "rows", "embed", "store", "plan"):
        print(f"  {stage:<14} {clock.seconds[stage] / thousands:.2f} s of processor time")
    for name in ("bytes", "calls", "input tokens", "output tokens"):
        print(f"  {name:<14} {totals[name] / thousands:,.0f}")


if __name__ == "__main__":
    main()
