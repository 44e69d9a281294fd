"""Find the chunks that answer a question: search by vector and by word, fuse, compare with disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from askcode.errors import IndexEmpty
from askcode.fusing import WEIGHTS, Found, Weights, fuse
from askcode.globbing import literal_glob, path_rule
from askcode.grading import FLOOR, is_surely_known, read_signs
from askcode.pinpointing import Place, best_paths, read_places
from askcode.protocols import Embedder, Reranker, Store
from askcode.reading import current_digest
from askcode.records import Candidate, Filters, Hit, Question, Retrieved
from askcode.repositories import Roots, path_below
from askcode.reranking import rerank
from askcode.spreading import spread
from askcode.tokenizing import query_tokens
from askcode.wording import read_words

# Deep enough that a chunk which only one of the two searches ranks well is still seen.
CANDIDATES = 200

# A small index would otherwise give every chunk a vector rank, similar to the question or not.
MIN_PART_OF_BEST = 0.3

# All that subquestions count together beside the question itself: with scripted subquestions,
# recall rises by 0.003 at NDCG@10 0.881 (0.876 at a weight of 0.5), where one search for the
# joined text gives 0.880.
SUBQUESTIONS_WEIGHT = 0.25

# The chunks of the files that a stack trace names, at most.
TRACE_CANDIDATES = 1000

MODES = ("hybrid", "vector", "text")

NEAREST_FILES = 5

NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Retriever:
    """Search one store for chunks of the files under one root."""

    root: Path
    store: Store
    embedder: Embedder
    max_file_bytes: int
    weights: Weights = WEIGHTS
    reranker: Reranker | None = None
    repositories: Mapping[str, Path] = field(default_factory=dict)
    """The roots of an index of several repositories by name; empty with one root alone."""

    def retrieve(self, question: Question, *, k: int, mode: str = "hybrid") -> Retrieved:
        """Return the k best chunks, and which of their files changed since they were indexed.

        Raises:
            IndexEmpty: there is nothing to search.
            EmbedderError: the embedding model cannot be used.
        """
        hits, _ = self._ranked(question, k=k, mode=mode)
        return self._compared_with_disk(hits)

    def retrieve_relevant(self, question: Question, *, k: int) -> Retrieved:
        """Return the k best chunks, or the nearest files when they likely do not answer.

        Raises:
            IndexEmpty: there is nothing to search.
            EmbedderError: the embedding model cannot be used.
        """
        hits, is_known = self._ranked(question, k=k, mode="hybrid")
        if hits and not is_known and hits[0].relevance < FLOOR:
            paths = dict.fromkeys(hit.chunk.path for hit in hits)
            return Retrieved((), nearest=tuple(paths)[:NEAREST_FILES])
        return self._compared_with_disk(hits)

    def _ranked(self, question: Question, *, k: int, mode: str) -> tuple[list[Hit], bool]:
        """Return the best hits, and whether the question surely names something in the index."""
        if self.repositories and not question.filters.repositories:
            everywhere = replace(question.filters, repositories=("*",))
            question = replace(question, filters=everywhere)
        found = [
            replace(self.found(text, filters=question.filters, mode=mode), weight=weight)
            for text, weight in _weighted(question.searches or (question.text,))
        ]
        hits = fuse(question.text, found, self.weights)
        if self.reranker and hits:
            hits = rerank(question.text, hits, self.reranker)
        if not hits and not self.store.files():
            raise IndexEmpty("the index is empty", hint="run: askcode index")
        pinned = self._pinned(read_places(question.text), question.filters)
        words = read_words(question.text)
        size = self.store.count(question.filters)
        chance = read_signs(words, found[0], hits, size=size).chance
        chosen = _after_pinned(pinned, spread(hits, k=k, question=question.text))[:k]
        is_known = bool(pinned) or is_surely_known(words, found[0], hits)
        return _with_relevance(chosen, chance), is_known

    def found(self, text: str, *, filters: Filters = NO_FILTERS, mode: str = "hybrid") -> Found:
        """Return what the searches of a mode find for one text."""
        vector: Sequence[Candidate] = ()
        words: Sequence[Candidate] = ()
        if mode != "text":
            query = self.embedder.embed_queries([text])
            vector = _similar(self.store.nearest(query, k=CANDIDATES, filters=filters))
        if mode != "vector":
            words = self.store.matching(query_tokens(text), k=CANDIDATES, filters=filters)
        return Found(vector, words)

    def _pinned(self, places: Sequence[Place], filters: Filters) -> list[Hit]:
        """Return the chunks that hold the lines of a stack trace, in its order."""
        if not places:
            return []
        names = dict.fromkeys(f"**/{literal_glob(place.name)}" for place in places)
        query = self.embedder.embed_queries([" ".join(place.name for place in places)])
        there = replace(filters, path_globs=tuple(names))
        candidates = self.store.nearest(query, k=TRACE_CANDIDATES, filters=there)
        rule = path_rule(filters.path_globs)
        below = path_below if filters.repositories else str
        allowed = [one for one in candidates if rule.allows(below(one.chunk.path))]
        hits = [_pinned_hit(one) for place in places for one in _at(place, allowed)]
        return list({hit.chunk.location: hit for hit in hits}.values())

    def _compared_with_disk(self, hits: Sequence[Hit]) -> Retrieved:
        indexed = {hit.chunk.path: hit.file_digest for hit in hits}
        now = {path: self._digest_on_disk(path) for path in indexed}
        stale = tuple(path for path, digest in indexed.items() if now[path] != digest)
        deleted = tuple(path for path in stale if now[path] is None)
        return Retrieved(tuple(hits), stale, deleted)

    def _digest_on_disk(self, path: str) -> str | None:
        place = Roots(self.root, self.repositories).locate(path)
        return current_digest(place.root, place.path, max_bytes=self.max_file_bytes)


def _similar(candidates: Sequence[Candidate]) -> list[Candidate]:
    best = candidates[0].score if candidates else 0.0
    least = MIN_PART_OF_BEST * best if best > 0 else best
    return [candidate for candidate in candidates if candidate.score >= least]


def _weighted(searches: Sequence[str]) -> list[tuple[str, float]]:
    """Return each distinct search with its weight; the first is the question itself."""
    first, *others = dict.fromkeys(searches)
    return [(first, 1.0), *((text, SUBQUESTIONS_WEIGHT / len(others)) for text in others)]


def _at(place: Place, candidates: Sequence[Candidate]) -> list[Candidate]:
    paths = best_paths(place, {candidate.chunk.path for candidate in candidates})
    return [
        candidate
        for candidate in candidates
        if candidate.chunk.path in paths
        and candidate.chunk.start_line <= place.line <= candidate.chunk.end_line
    ]


def _pinned_hit(candidate: Candidate) -> Hit:
    # above all that the searches can give, so that scores still descend through the list
    return Hit(
        candidate.chunk,
        candidate.description,
        candidate.file_digest,
        score=10.0,
        shares={"trace": 10.0},
    )


def _after_pinned(pinned: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    places = {hit.chunk.location for hit in pinned}
    return [*pinned, *(hit for hit in hits if hit.chunk.location not in places)]


def _with_relevance(hits: Sequence[Hit], chance: float) -> list[Hit]:
    top = max((hit.score for hit in hits if "trace" not in hit.shares), default=0.0)
    return [
        replace(hit, relevance=1.0 if "trace" in hit.shares else chance * _part(hit.score, top))
        for hit in hits
    ]


def _part(score: float, top: float) -> float:
    return max(0.0, score / top) if top > 0 else 0.0
