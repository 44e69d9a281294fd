"""Say how likely it is that an index answers a question at all.

The score of a hit compares within one list only. Its relevance means the same from one
question to the next: the estimated chance that the question is about this code base, times the
hit's part of the best score. The chance comes from the words alone, whatever the embedding
model: how much more often those of the question stand in the index than in ordinary code, and
how much of what is rare about the question the best hits have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from askcode.fusing import Found
from askcode.records import Candidate, Hit
from askcode.word_rates import LEAST, rate, root
from askcode.wording import AskedWords, fold, last_names

# Below this chance nothing is shown.
FLOOR = 0.5

# Logistic regression over the development questions, asked of their own and of other
# repositories, of whole ones and of a few files (`make bench-grading` measures it on the
# benchmark's, and with BENCH_SET=development prints a new fit).
BIAS = 0.68
LENGTH = -1.51
EXCESS = 1.42
COVERED = 0.24
UNKNOWN_NAMES = -2.15

# Shorter questions are too few among those that were fitted to say what length means there.
SHORTEST = 4
# A name that the index has is rare enough to lift its chunks among so many text hits.
NAME_DEPTH = 20
BEST_HITS = 3
# Shorter names are in every text.
MIN_NAME = 3
# Added to what was counted and to what was expected: a word is not impossible for being absent.
UNSEEN = 0.2


@dataclass(frozen=True, slots=True)
class Signs:
    """What the searches say about whether the question belongs to the code base."""

    length: float
    """Logarithm of the number of words."""
    excess: float
    """Mean logarithm of how many more texts have a word of the question than of ordinary code."""
    covered: float
    """How rare, in nats, all the words are together that one of the best hits has."""
    unknown_names: float
    """Share of the names in the question that the best text hits lack."""

    @property
    def chance(self) -> float:
        """Return the chance in [0, 1] that the index answers the question."""
        total = (
            BIAS
            + LENGTH * self.length
            + EXCESS * self.excess
            + COVERED * self.covered
            + UNKNOWN_NAMES * self.unknown_names
        )
        return 1 / (1 + math.exp(-total))


def read_signs(words: AskedWords, found: Found, hits: Sequence[Hit], *, size: int) -> Signs:
    """Return the signs in what the user's own words found, and in the hits made of it.

    `size` counts the chunks that were searched.
    """
    names = _names(words)
    roots = list(dict.fromkeys(map(root, words.tokens)))
    texts = [_words_of(candidate).lower() for candidate in found.text or found.vector]
    return Signs(
        length=math.log(max(SHORTEST, len(roots))),
        excess=_mean(_excesses(roots, texts, size)),
        covered=max(
            (_rarity_in(_words_of(hit).lower(), roots) for hit in hits[:BEST_HITS]), default=0.0
        ),
        unknown_names=1 - len(_known(names, found)) / len(names) if names else 0.0,
    )


def is_surely_known(words: AskedWords, found: Found, hits: Sequence[Hit]) -> bool:
    """Return whether nothing is missing: a name was found, or one hit has all the words.

    A name is one that the question means as a name. If it is a common word, it counts only among
    other words, and where it is defined.
    """
    known = _known(_names(words), found)
    if any(rate(root(name)) == 0 for name in known):
        return True
    return len(words.tokens) > 1 and (
        not known.isdisjoint(_defined(found)) or _has_all(hits[:BEST_HITS], words.tokens)
    )


def _defined(found: Found) -> set[str]:
    best = found.text[:NAME_DEPTH]
    return {name for one in best for name in last_names(one.chunk.definitions)}


def _has_all(hits: Sequence[Hit], tokens: Sequence[str]) -> bool:
    roots = set(map(root, tokens))
    texts = [_words_of(hit).lower() for hit in hits]
    return any(all(one in text for one in roots) for text in texts)


def _excesses(roots: Sequence[str], texts: Sequence[str], size: int) -> list[float]:
    excesses = []
    for one in roots:
        # of more texts than were looked at, no more can have the word
        expected = min(size * rate(one), len(texts)) + UNSEEN + size * LEAST
        excesses.append(math.log((sum(one in text for text in texts) + UNSEEN) / expected))
    return excesses


def _rarity_in(text: str, roots: Sequence[str]) -> float:
    return sum(-math.log(rate(one) + LEAST) for one in roots if one in text)


def _words_of(found: Candidate | Hit) -> str:
    """Return what a reader sees of a chunk, with the questions that it is known to answer."""
    questions = "\n".join(one.question for one in found.description.questions)
    return f"{found.chunk.path}\n{found.chunk.text}\n{questions}"


def _names(words: AskedWords) -> set[str]:
    return {name for name in words.identifiers if len(name) >= MIN_NAME}


def _known(names: set[str], found: Found) -> set[str]:
    if not names:
        return set()
    texts = [fold(_words_of(candidate)) for candidate in found.text[:NAME_DEPTH]]
    return {name for name in names if any(name in text for text in texts)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
