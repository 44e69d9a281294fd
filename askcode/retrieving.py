"""Find the chunks that answer a question: search by vector and by word, fuse, compare with disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from askcode.errors import IndexEmpty
from askcode.fusing import fuse
from askcode.protocols import Embedder, Store
from askcode.reading import current_digest
from askcode.records import Candidate, Filters, Hit, Question, Retrieved
from askcode.tokenizing import query_tokens

# Deep enough that a chunk which only one of the two searches ranks well is still seen.
CANDIDATES = 200

MODES = ("hybrid", "vector", "text")


@dataclass(frozen=True, slots=True)
class Retriever:
    """Search one store for chunks of the files under one root."""

    root: Path
    store: Store
    embedder: Embedder
    max_file_bytes: int

    def retrieve(self, question: Question, *, k: int, mode: str = "hybrid") -> Retrieved:
        """Return the k best chunks, and which of their files changed since they were indexed.

        Raises:
            IndexEmpty: there is nothing to search.
            EmbedderError: the embedding model cannot be used.
        """
        hits = self._ranked(question, mode)[:k]
        if not hits and not self.store.files():
            raise IndexEmpty("the index is empty", hint="run `askcode index`")
        stale, deleted = self._freshness(hits)
        return Retrieved(tuple(hits), tuple(stale), tuple(deleted))

    def _ranked(self, question: Question, mode: str) -> list[Hit]:
        joined = "\n".join(question.searches)
        vector: list[Candidate] = []
        text: list[Candidate] = []
        if mode != "text":
            vector = self.nearest(joined, question.filters)
        if mode != "vector":
            text = self.store.matching(
                query_tokens(joined), k=CANDIDATES, filters=question.filters
            )
        return fuse(vector, text)

    def nearest(self, text: str, filters: Filters) -> list[Candidate]:
        """Return the chunks most similar to a text."""
        return self.store.nearest(
            self.embedder.embed_queries([text]), k=CANDIDATES, filters=filters
        )

    def _freshness(self, hits: list[Hit]) -> tuple[list[str], list[str]]:
        indexed = {hit.chunk.path: hit.file_digest for hit in hits}
        now = {
            path: current_digest(self.root, path, max_bytes=self.max_file_bytes)
            for path in indexed
        }
        stale = [path for path, digest in indexed.items() if now[path] != digest]
        return stale, [path for path in stale if now[path] is None]
