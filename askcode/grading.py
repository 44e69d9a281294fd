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
from askcode.records import Chunk, Hit
from askcode.tokenizing import code_tokens
from askcode.wording import AskedWords, fold

# Below this chance nothing is shown.
FLOOR = 0.25

# Logistic regression over questions asked of their own and of other repositories, of whole
# ones and of a few files (`make bench-grading` prints what the floor refuses, and fits anew).
BIAS = -5.88
SIMILARITY = 12.75
"""Mean cosine of the ten nearest chunks."""
LENGTH = 1.73
"""Logarithm of the number of words: long questions are similar to less."""
UNKNOWN_NAMES = -2.57
"""Share of the names in the question that the best text hits lack."""
COVERED = 5.02
"""Largest share of the question's words that one of the best hits has."""
ABSENT = -1.3
"""Share of the question's words that no text hit has."""
SIZE = -0.79
"""Logarithm of the number of similar chunks: among many, something is always similar."""

# Shorter questions are too few among those that were fitted to say what length means there.
SHORTEST = 4
# A name that the index has is rare enough to lift its chunks among so many text hits.
NAME_DEPTH = 20
BEST_HITS = 5
# Shorter names are in every text.
MIN_NAME = 3


@dataclass(frozen=True, slots=True)
class Signs:
    """What the searches say about whether the question belongs to the code base."""

    similarity: float
    length: float
    unknown_names: float
    covered: float
    absent: float
    size: float

    @property
    def chance(self) -> float:
        """Return the chance in [0, 1] that the index answers the question."""
        total = (
            BIAS
            + SIMILARITY * self.similarity
            + LENGTH * self.length
            + UNKNOWN_NAMES * self.unknown_names
            + COVERED * self.covered
            + ABSENT * self.absent
            + SIZE * self.size
        )
        return 1 / (1 + math.exp(-total))


def read_signs(words: AskedWords, found: Found, hits: Sequence[Hit]) -> Signs:
    """Return the signs in what the user's own words found, and in the hits made of it."""
    names = _names(words)
    count = max(1, len(words.tokens))
    best = [set(code_tokens(_words_of(hit.chunk))) for hit in hits[:BEST_HITS]]
    seen = "\n".join(_words_of(candidate.chunk) for candidate in found.text).lower()
    return Signs(
        similarity=_mean([candidate.score for candidate in found.vector[:10]]),
        length=math.log(max(SHORTEST, count)),
        unknown_names=1 - len(_known(names, found)) / len(names) if names else 0.0,
        covered=max(
            (sum(map(text.__contains__, words.tokens)) / count for text in best), default=0
        ),
        absent=sum(token not in seen for token in words.tokens) / count,
        size=math.log(max(1, len(found.vector))),
    )


def knows_a_name(words: AskedWords, found: Found) -> bool:
    """Return whether a name that the question means as a name occurs in what was found."""
    return bool(_known(_names(words), found))


def _words_of(chunk: Chunk) -> str:
    return f"{chunk.path}\n{chunk.text}"


def _names(words: AskedWords) -> set[str]:
    return {name for name in words.identifiers if len(name) >= MIN_NAME}


def _known(names: set[str], found: Found) -> set[str]:
    if not names:
        return set()
    texts = [fold(_words_of(candidate.chunk)) for candidate in found.text[:NAME_DEPTH]]
    return {name for name in names if any(name in text for text in texts)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
