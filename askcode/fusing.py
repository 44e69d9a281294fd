"""Fuse the searches for a question into one ranking, with what is known of code besides.

Each part of the ranking is one pure function over the candidates; its weight stands in
`Weights`, with what the ranking loses without it (`make bench-ablation` prints the table).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from askcode.placing import Part, part_of, parts_asked_about
from askcode.records import Candidate, Hit
from askcode.wording import AskedWords, last_names, name_share, read_words, weigh_words

RRF_K = 60
"""Reciprocal rank fusion's constant, Cormack et al. 2009."""
SCORE_POWER = 2
"""Of the part of the best score: what is half as similar counts a quarter."""

Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of the ranking counts beside both searches' first place, which is 1.

    The drops are those of NDCG@10 over the benchmark's 364 questions, whole 0.875; where a second
    one stands, that is over the development set's 340, whole 0.718.
    """

    vector: float = 1.0
    """Drop 0.052 and 0.051."""
    text: float = 1.0
    """Drop 0.001 and 0.025, most on commit subjects."""
    score: float = 0.6
    """How much of both goes by score in place of rank (Bruch et al. 2023): drop 0.002, 0.012."""
    symbol: float = 0.8
    """A chunk defines a name that the question means as a name: drop 0.005."""
    file_name: float = 0.9
    """The words of the question are in the file's name: drop 0.019."""
    coherence: float = 0.2
    """Other chunks of the file were found too: drop 0.028."""
    test: float = 0.4
    """Factor for tests, which repeat the words of what they test: drop 0.084."""
    auxiliary: float = 0.6
    """Factor for examples, docs, benchmarks, vendored code and configuration: drop 0.059."""
    lifted: float = 0.8
    """The factor instead, when the question is about them: drop 0.003, 0.022 on sweqa."""


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Found:
    """What the two searches of one text found, best first."""

    vector: Sequence[Candidate] = ()
    text: Sequence[Candidate] = ()
    weight: float = 1.0
    """Beside the other texts of the same question."""


@dataclass(slots=True)
class _Ranked:
    """A candidate with what it has gathered so far."""

    candidate: Candidate
    shares: dict[str, float] = field(default_factory=dict)
    vector_rank: int | None = None
    text_rank: int | None = None

    @property
    def score(self) -> float:
        return sum(self.shares.values())

    def add(self, name: str, share: float) -> None:
        if share:
            self.shares[name] = self.shares.get(name, 0.0) + share


def fuse(question: str, found: Sequence[Found], weights: Weights = WEIGHTS) -> list[Hit]:
    """Return all candidates, best first, each with the share of every part in its score."""
    ranked = _by_searches(found, weights)
    words = read_words(question)
    _add_definitions(ranked, words, weights)
    _add_names(ranked, words, weights)
    _demote(ranked, parts_asked_about(question), weights)
    _add_coherence(ranked, weights)
    return sorted(map(_hit, ranked), key=lambda hit: (-hit.score, hit.chunk.location))


def _by_searches(found: Sequence[Found], weights: Weights) -> list[_Ranked]:
    ranked: dict[Key, _Ranked] = {}
    lists = [
        (name, candidates, factor * one.weight)
        for one in found
        for name, candidates, factor in (
            ("vector", one.vector, weights.vector),
            ("text", one.text, weights.text),
        )
        if candidates
    ]
    total = sum(factor for _, _, factor in lists) or 1.0
    for name, candidates, factor in lists:
        best = candidates[0].score
        for rank, candidate in enumerate(candidates, start=1):
            entry = ranked.setdefault(_key(candidate), _Ranked(candidate))
            by_rank = (RRF_K + 1) / (RRF_K + rank)
            by_score = max(candidate.score / best, 0.0) ** SCORE_POWER if best > 0 else by_rank
            share = weights.score * by_score + (1 - weights.score) * by_rank
            entry.add(name, factor / total * share)
            _note_rank(entry, name, rank)
    return list(ranked.values())


def _note_rank(entry: _Ranked, name: str, rank: int) -> None:
    if name == "vector":
        entry.vector_rank = min(rank, entry.vector_rank or rank)
    else:
        entry.text_rank = min(rank, entry.text_rank or rank)


def _add_definitions(ranked: Iterable[_Ranked], words: AskedWords, weights: Weights) -> None:
    """Favour where a name is defined; the more files define it, the less it says."""
    defining: dict[str, list[_Ranked]] = defaultdict(list)
    for entry in ranked:
        for name in last_names(entry.candidate.chunk.definitions) & words.identifiers:
            defining[name].append(entry)
    best: dict[Key, float] = {}
    for entries in defining.values():
        files = len({entry.candidate.chunk.path for entry in entries})
        for key in (_key(entry.candidate) for entry in entries):
            best[key] = max(best.get(key, 0.0), weights.symbol / math.sqrt(files))
    for entry in ranked:
        entry.add("symbol", best.get(_key(entry.candidate), 0.0))


def _add_names(ranked: Sequence[_Ranked], words: AskedWords, weights: Weights) -> None:
    """Favour files whose name has the words of the question, the rarer words the more."""
    texts = [
        f"{entry.candidate.chunk.path}\n{entry.candidate.chunk.text}".lower() for entry in ranked
    ]
    rarity = weigh_words(words.tokens, texts)
    shares = {
        path: name_share(rarity, path) for path in {entry.candidate.chunk.path for entry in ranked}
    }
    for entry in ranked:
        entry.add("name", weights.file_name * shares[entry.candidate.chunk.path])


def _demote(ranked: Iterable[_Ranked], asked: frozenset[Part], weights: Weights) -> None:
    """Take a part of the score from what is not the source, unless it is asked about."""
    factors = {Part.SOURCE: 1.0, Part.TEST: weights.test, Part.AUXILIARY: weights.auxiliary}
    factors |= {part: max(weights.lifted, factors[part]) for part in asked}
    for entry in ranked:
        factor = factors[part_of(entry.candidate.chunk.path)]
        entry.add("part", (factor - 1.0) * entry.score)


def _add_coherence(ranked: Sequence[_Ranked], weights: Weights) -> None:
    """Favour files of which several chunks were found."""
    sums: dict[str, float] = defaultdict(float)
    for entry in ranked:
        sums[entry.candidate.chunk.path] += entry.score
    most = max(sums.values(), default=0.0)
    if most <= 0:
        return
    top = max(entry.score for entry in ranked)
    for entry in ranked:
        entry.add("file", weights.coherence * top * sums[entry.candidate.chunk.path] / most)


def _key(candidate: Candidate) -> Key:
    chunk = candidate.chunk
    return (chunk.path, chunk.start_line, chunk.end_line)


def _hit(entry: _Ranked) -> Hit:
    candidate = entry.candidate
    return Hit(
        chunk=candidate.chunk,
        description=candidate.description,
        file_digest=candidate.file_digest,
        score=entry.score,
        vector_rank=entry.vector_rank,
        text_rank=entry.text_rank,
        shares=entry.shares,
    )
