"""Measure embedding models on the benchmark: the vectors alone, speed, size.

    python -m tests.eval.bench_model                    the model in the package
    BENCH_MODELS="FOLDER FOLDER" python -m ...          others beside it, on the same texts
    python -m tests.eval.bench_model --form whole       one text a chunk instead of all passages

The trees are cut with the package's tokenizer; every model embeds the same texts. Vectors of
models that take minutes are kept in the work folder (BENCH_WORK).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from askcode.adapters.fastembed_models import BUNDLED_FOLDER, bundled_embedder, folder_embedder
from askcode.protocols import Embedder
from askcode.scoring import mean
from tests.eval.dense import FORMS, Tree, difference, load_trees, score_dense
from tests.eval.questions import BenchSet, load_bench, work_folder

SPEED_TEXTS = 4000
# A text of a transformer costs hundreds of times more: fewer give its speed as well.
SLOW_TEXTS = 200
PORTION = 512


@dataclass(frozen=True, slots=True)
class Measured:
    """What one model gave."""

    name: str
    scores: list[float]
    texts_a_second: float
    load_seconds: float
    megabytes: float


def embed_tree(embedder: Embedder, tree: Tree, kept: Path) -> np.ndarray:
    """Return the vectors of a tree's texts, from an earlier run where it finished."""
    if kept.exists():
        vectors: np.ndarray = np.load(kept)
        if len(vectors) == len(tree.texts):
            return vectors.astype(np.float32)
    parts = [
        embedder.embed_passages(tree.texts[begin : begin + PORTION])
        for begin in range(0, len(tree.texts), PORTION)
    ]
    vectors = np.concatenate(parts)
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept, vectors.astype(np.float16))
    return vectors


def measure(
    name: str, path: Path | None, bench: BenchSet, trees: dict[str, Tree], kept: Path
) -> Measured:
    """Return one model's figures over the benchmark; importing fastembed is not loading a model."""
    import fastembed  # noqa: F401

    started = time.perf_counter()
    path = path or BUNDLED_FOLDER
    embedder = folder_embedder(path)
    embedder.embed_queries(["where is it loaded"])
    loaded = time.perf_counter() - started
    folder = kept / embedder.identity.digest[:16]
    vectors = {
        repo: embed_tree(embedder, tree, folder / f"{repo}.npy") for repo, tree in trees.items()
    }
    scores = score_dense(bench.questions, trees, vectors, embedder)
    size = sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    return Measured(name, scores, texts_a_second(embedder, trees), loaded, size / 1e6)


def texts_a_second(embedder: Embedder, trees: dict[str, Tree]) -> float:
    """Return how many texts are embedded in a second, over an even sample of all trees."""
    every = [text for tree in trees.values() for text in tree.texts]
    count = SLOW_TEXTS
    rate = 0.0
    while True:
        sample = every[:: max(len(every) // count, 1)][:count]
        started = time.perf_counter()
        embedder.embed_passages(sample)
        rate = len(sample) / (time.perf_counter() - started)
        if rate < SLOW_TEXTS or count == SPEED_TEXTS:
            return rate
        count = SPEED_TEXTS


def print_figures(measured: Sequence[Measured], bench: BenchSet) -> None:
    """Print a table, and each model against the first."""
    sources = sorted({question.source for question in bench.questions})
    head = "".join(f"{source:>11}" for source in sources)
    print(f"{'':28}{'NDCG@10':>8}{head}{'texts/s':>9}{'load s':>8}{'MB':>7}")
    for one in measured:
        parts = [
            mean(
                [x for x, q in zip(one.scores, bench.questions, strict=True) if q.source == source]
            )
            for source in sources
        ]
        cells = "".join(f"{part:11.3f}" for part in parts)
        print(
            f"{one.name:28}{mean(one.scores):8.3f}{cells}{one.texts_a_second:9.0f}"
            f"{one.load_seconds:8.2f}{one.megabytes:7.1f}"
        )
    for one in measured[1:]:
        change, low, high = difference(measured[0].scores, one.scores)
        print(f"{measured[0].name} - {one.name}: {change:+.3f} [{low:+.3f}, {high:+.3f}]")


def main() -> None:
    """Measure the model in the package and those that BENCH_MODELS names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--form", choices=FORMS, default="passages")
    parser.add_argument("--repo", action="append", default=[], help="only this tree")
    asked = parser.parse_args()
    bench = load_bench(asked.repo)
    trees = load_trees(bench, bundled_embedder(), FORMS[asked.form])
    chunks = sum(len(tree.chunks) for tree in trees.values())
    texts = sum(len(tree.texts) for tree in trees.values())
    print(f"{chunks} chunks, {texts} texts, {len(bench.questions)} questions", flush=True)
    kept = work_folder() / "vectors" / asked.form
    others = [Path(word) for word in os.environ.get("BENCH_MODELS", "").split()]
    measured = [measure("in the package", None, bench, trees, kept)]
    measured += [measure(path.name, path, bench, trees, kept) for path in others]
    print_figures(measured, bench)


if __name__ == "__main__":
    main()
