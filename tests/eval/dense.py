"""Rank files by vectors alone: every tree chunked as askcode does, embedded by any model."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from askcode.chunking import Chunker
from askcode.protocols import Embedder
from askcode.records import Chunk, Description, SourceFile
from askcode.representing import header, passages
from askcode.scanning import ScanRules, list_files, read_file
from askcode.scoring import mean, score_files
from tests.eval.questions import BenchQuestion, BenchSet

CHUNK_TOKENS = 256
DRAWS = 2000

Texts = Callable[[Chunk], list[str]]


@dataclass(frozen=True, slots=True)
class Tree:
    """The chunks of one tree, and the texts that are embedded for them."""

    chunks: tuple[Chunk, ...]
    texts: tuple[str, ...]
    owners: np.ndarray
    """The chunk of each text."""


def all_passages(chunk: Chunk) -> list[str]:
    """Return the texts that askcode embeds: the chunk with its header, and its pieces."""
    return passages(chunk, Description())


def whole(chunk: Chunk) -> list[str]:
    """Return the chunk with its header, one text."""
    return [f"{header(chunk)}\n{chunk.text}"]


def raw(chunk: Chunk) -> list[str]:
    """Return the chunk's text alone."""
    return [chunk.text]


FORMS: dict[str, Texts] = {"passages": all_passages, "whole": whole, "raw": raw}


def chunk_tree(root: Path, embedder: Embedder) -> list[Chunk]:
    """Return all chunks of a tree, cut as askcode cuts them."""
    rules = ScanRules()
    chunker = Chunker(count_tokens=embedder.count_tokens, max_tokens=CHUNK_TOKENS)
    chunks = []
    for path in list_files(root, rules, index_dir=None).paths:
        source = read_file(root, path, rules)
        if isinstance(source, SourceFile):
            chunks += chunker.chunk(source)
    return chunks


def make_tree(chunks: Sequence[Chunk], form: Texts) -> Tree:
    """Return chunks with their texts to embed."""
    texts = [form(chunk) for chunk in chunks]
    owners = np.repeat(np.arange(len(chunks)), [len(of_chunk) for of_chunk in texts])
    return Tree(tuple(chunks), tuple(text for of_chunk in texts for text in of_chunk), owners)


def rank_files(tree: Tree, vectors: np.ndarray, query: np.ndarray) -> list[str]:
    """Return the files, best first, each by the best of its chunks' texts."""
    order = np.argsort(-(vectors @ query), kind="stable")
    return list(dict.fromkeys(tree.chunks[owner].path for owner in tree.owners[order[:2000]]))


def score_dense(
    questions: Sequence[BenchQuestion],
    trees: dict[str, Tree],
    vectors: dict[str, np.ndarray],
    embedder: Embedder,
) -> list[float]:
    """Return each question's NDCG@10 by the vectors alone."""
    queries = embedder.embed_queries([question.text for question in questions])
    return [
        score_files(rank_files(trees[one.repo], vectors[one.repo], query), one.relevant).ndcg
        for one, query in zip(questions, queries, strict=True)
    ]


def difference(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean difference and its 95 % interval by a paired bootstrap."""
    changes = [one - other for one, other in zip(ours, theirs, strict=True)]
    chance = random.Random(1)
    means = sorted(mean(chance.choices(changes, k=len(changes))) for _ in range(DRAWS))
    return mean(changes), means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]


def load_trees(bench: BenchSet, embedder: Embedder, form: Texts) -> dict[str, Tree]:
    """Return every tree of a benchmark, chunked."""
    return {repo: make_tree(chunk_tree(bench.trees / repo, embedder), form) for repo in bench.repos}
