"""Small real implementations of the protocols, for tests."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from askcode.globbing import path_rule
from askcode.records import (
    Candidate,
    EmbedderIdentity,
    Filters,
    IndexedFile,
    Row,
    Vectors,
)


class HashEmbedder:
    """Embed a text as the bag of its words: texts that share words are similar."""

    def __init__(self, dim: int = 32, *, name: str = "hash", window: int | None = None) -> None:
        self.dim = dim
        self.name = name
        self.window = window
        self.texts: list[str] = []
        """Every passage that was embedded, in order."""

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity(self.name, f"hash-{self.dim}", self.dim)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return self._embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row += self._direction(word)
            if row.any():
                row /= np.linalg.norm(row)
        return rows

    def _direction(self, word: str) -> np.ndarray:
        seed = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(seed, "little")).standard_normal(self.dim)


class MemoryStore:
    """Keep rows in a dictionary and search them by looking at each."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {}
        self.finished = 0

    def files(self) -> dict[str, IndexedFile]:
        return {path: _summary(path, rows) for path, rows in self.rows.items()}

    def replace(self, rows: Mapping[str, Sequence[Row]], *, removed: Collection[str] = ()) -> None:
        for path in [*removed, *rows]:
            self.rows.pop(path, None)
        self.rows.update({path: list(new) for path, new in rows.items() if new})

    def nearest(self, query: Vectors, *, k: int, filters: Filters) -> list[Candidate]:
        if not query.any():
            return []
        return _best(
            [(row, float((row.vectors @ query[0]).max())) for row in self._allowed(filters)], k
        )

    def matching(self, tokens: Sequence[str], *, k: int, filters: Filters) -> list[Candidate]:
        scored = [(row, self._bm25(row, set(tokens))) for row in self._allowed(filters)]
        return _best([(row, score) for row, score in scored if score > 0], k)

    def count(self, filters: Filters) -> int:
        return len(self._allowed(filters))

    def verify(self) -> None:
        """Find nothing wrong: memory does not rot."""

    def finish(self) -> list[str]:
        self.finished += 1
        return []

    def _all(self) -> list[Row]:
        return [row for rows in self.rows.values() for row in rows]

    def _allowed(self, filters: Filters) -> list[Row]:
        rule = path_rule(filters.path_globs)
        names = path_rule(filters.repositories)
        languages = {language.lower() for language in filters.languages}
        return [
            row
            for row in self._all()
            if rule.allows(_below(row.chunk.path) if filters.repositories else row.chunk.path)
            and (not filters.repositories or names.allows(row.chunk.path.partition(":")[0]))
            and (not languages or (row.chunk.language or "").lower() in languages)
        ]

    def _bm25(self, row: Row, tokens: set[str]) -> float:
        texts = [Counter(other.search_text.split()) for other in self._all()]
        mean = sum(map(sum, (text.values() for text in texts))) / len(texts)
        own = Counter(row.search_text.split())
        score = 0.0
        for token in tokens & set(own):
            holding = sum(token in text for text in texts)
            weight = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            length = 1.2 * (0.25 + 0.75 * sum(own.values()) / mean)
            score += weight * own[token] * 2.2 / (own[token] + length)
        return score


def _below(path: str) -> str:
    return path.partition(":")[2]


def _summary(path: str, rows: Sequence[Row]) -> IndexedFile:
    of_rows = [set(row.description.kinds) for row in rows]
    return IndexedFile(
        path,
        rows[0].file_digest,
        rows[0].chunk.language,
        len(rows),
        tuple(sorted(set.intersection(*of_rows))),
        sum(len(row.description.questions) for row in rows),
        tuple(sorted(set.union(*of_rows))),
    )


def _best(scored: Sequence[tuple[Row, float]], k: int) -> list[Candidate]:
    ordered = sorted(scored, key=lambda one: (-one[1], one[0].chunk.path, one[0].chunk.start_line))
    return [
        Candidate(row.chunk, row.description, row.file_digest, score) for row, score in ordered[:k]
    ]
