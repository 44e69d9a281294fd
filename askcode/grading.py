"""Say how likely it is that an index answers a question at all.

The score of a hit compares within one list only. Its relevance means the same from one
question to the next: the estimated chance, from what both searches found, that the question
is about this code base, times the hit's part of the best score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from askcode.fusing import Found
from askcode.records import Candidate
from askcode.wording import AskedWords, weigh_words

# Below this chance nothing is shown: 3 % of the benchmark's questions fall under it.
FLOOR = 0.15

# Logistic regression over questions asked of their own and of other repositories
# (`python -m tests.eval.bench --grading` prints the table and fits anew).
BIAS = -6.5
SIMILARITY = 10.4
"""Mean cosine of the ten nearest chunks."""
TOGETHER = 2.1
"""Share of the question's words, by rarity, that the three best text hits have each."""
UNKNOWN = -5.3
"""Share of the question's words that no candidate has."""
LENGTH = 0.96
"""Logarithm of the number of words: long questions are similar to less."""
AGREEMENT = 0.09
"""Chunks among the best twenty of both searches."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What the searches say about whether the question belongs to the code base."""

    similarity: float
    together: float
    unknown: float
    length: float
    agreement: float

    @property
    def chance(self) -> float:
        """Return the chance in [0, 1] that the index answers the question."""
        sum_ = (
            BIAS
            + SIMILARITY * self.similarity
            + TOGETHER * self.together
            + UNKNOWN * self.unknown
            + LENGTH * self.length
            + AGREEMENT * self.agreement
        )
        return 1 / (1 + math.exp(-sum_))


def read_signs(words: AskedWords, found: Found) -> Signs:
    """Return the signs in what the searches for the user's own words found."""
    texts = [_text(candidate) for candidate in (*found.text, *found.vector)]
    rarity = weigh_words(words.tokens, texts)
    total = sum(rarity.values()) or 1.0
    best = [_text(candidate) for candidate in found.text[:3]]
    shares = [sum(rarity[token] for token in rarity if token in text) for text in best]
    unknown = sum(not any(token in text for text in texts) for token in words.tokens)
    nearest = [candidate.score for candidate in found.vector[:10]]
    return Signs(
        similarity=_mean(nearest),
        together=_mean(shares) / total,
        unknown=unknown / max(1, len(words.tokens)),
        length=math.log(max(1, len(words.tokens))),
        agreement=len(_keys(found.vector[:20]) & _keys(found.text[:20])),
    )


def knows_a_name(words: AskedWords, found: Found) -> bool:
    """Return whether a name that the question means as a name occurs in what was found."""
    names = [name for name in words.identifiers if len(name) > 2]
    texts = (_text(candidate).replace("_", "").replace("-", "") for candidate in found.text)
    return bool(names) and any(name in text for text in texts for name in names)


def _text(candidate: Candidate) -> str:
    return f"{candidate.chunk.path}\n{candidate.chunk.text}".lower()


def _keys(candidates: Sequence[Candidate]) -> set[str]:
    return {candidate.chunk.location for candidate in candidates}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
