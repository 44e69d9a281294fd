"""Measure search over 200,000 generated chunks: query time, and recall of the vector index.

python -m tests.eval.bench_scale [--chunks N]
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterator

import numpy as np

from askcode.adapters.fastembed_models import bundled_embedder
from askcode.adapters.lance_store import create_store
from askcode.protocols import Embedder
from askcode.records import Chunk, Description, Filters, Question, Row
from askcode.representing import passages, search_text
from askcode.retrieving import Retriever
from askcode.scoring import mean
from tests.eval.generating import file_path, file_text, questions
from tests.eval.questions import work_folder
from tests.eval.scoring import percentile

CHUNKS_PER_FILE = 10
FILES_PER_BATCH = 400
QUESTIONS = 100
RECALL_AT = 50


def file_chunks(number: int) -> list[Chunk]:
    """Return the chunks of one generated file, a function each."""
    chunks = []
    line = 1
    for text in file_text(number, CHUNKS_PER_FILE).rstrip("\n").split("\n\n"):
        count = text.count("\n") + 1
        name = text.split("(")[0].removeprefix("def ")
        chunks.append(
            Chunk(
                file_path(number),
                line,
                line + count - 1,
                text,
                language="python",
                symbol=name,
                signature=text.split("\n")[0],
                definitions=(name,),
            )
        )
        line += count + 1
    return chunks


def batches(files: int, embedder: Embedder) -> Iterator[dict[str, list[Row]]]:
    """Yield the rows of all files, some hundred files at a time."""
    nothing = Description()
    for first in range(0, files, FILES_PER_BATCH):
        numbers = range(first, min(files, first + FILES_PER_BATCH))
        chunks = [chunk for number in numbers for chunk in file_chunks(number)]
        texts = [passages(chunk, nothing) for chunk in chunks]
        vectors = embedder.embed_passages([text for of_chunk in texts for text in of_chunk])
        rows: dict[str, list[Row]] = {}
        place = 0
        for chunk, of_chunk in zip(chunks, texts, strict=True):
            own = vectors[place : place + len(of_chunk)]
            place += len(of_chunk)
            row = Row(chunk, nothing, "0", search_text(chunk, nothing), own)
            rows.setdefault(chunk.path, []).append(row)
        yield rows


def main() -> None:
    """Build the table and print what searching it takes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chunks", type=int, default=200_000)
    wanted = parser.parse_args().chunks
    files = wanted // CHUNKS_PER_FILE
    folder = work_folder() / "scale"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    embedder = bundled_embedder()
    store = create_store(folder, table="chunks", dim=embedder.identity.dim)
    keys: list[str] = []
    kept: list[np.ndarray] = []
    started = time.perf_counter()
    for rows in batches(files, embedder):
        store.replace(rows)
        for row in (row for of_file in rows.values() for row in of_file):
            keys += [row.chunk.location] * len(row.vectors)
            kept.append(row.vectors.astype(np.float16))
    print(f"{wanted} chunks stored in {time.perf_counter() - started:.0f} s", flush=True)
    started = time.perf_counter()
    for warning in store.finish():
        print(warning)
    print(f"search structures made in {time.perf_counter() - started:.0f} s", flush=True)
    exact = np.concatenate(kept)
    retriever = Retriever(folder, store, embedder, max_file_bytes=1_000_000)
    times, recalls = [], []
    for text in questions(QUESTIONS, files=files):
        started = time.perf_counter()
        retriever.retrieve(Question(text, (text,)), k=10)
        times.append((time.perf_counter() - started) * 1000)
        query = embedder.embed_queries([text])
        found = store.nearest(query, k=RECALL_AT, filters=Filters())
        right = _exact(exact, keys, query)
        recalls.append(len(right & {one.chunk.location for one in found}) / len(right))
    print(f"query p50 {percentile(times, 0.5):.1f} ms, p95 {percentile(times, 0.95):.1f} ms")
    print(f"recall of the vector index at {RECALL_AT} against exact search: {mean(recalls):.3f}")


def _exact(vectors: np.ndarray, keys: list[str], query: np.ndarray) -> set[str]:
    """Return the chunks with the most similar vectors."""
    likeness = np.concatenate(
        [part.astype(np.float32) @ query[0] for part in np.array_split(vectors, 16)]
    )
    best: dict[str, None] = {}
    for place in np.argsort(-likeness, kind="stable"):
        best.setdefault(keys[place])
        if len(best) == RECALL_AT:
            break
    return set(best)


if __name__ == "__main__":
    main()
