"""Choose hits from many files, and show what is nearly the same only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from askcode.records import Hit

# Each further chunk of a file keeps this share of its score: ten hits then lose 0.003 of
# NDCG@10 against a list without end (0.033 without), and a file with much to say still gives
# several.
FILE_DECAY = 0.7

# Chunks whose lines agree by this much are copies: vendored files, generated variants.
SAME_LINES = 0.9

# Copies are looked for this many times deeper than asked; below, they do no harm.
DEPTH = 3
MARGIN = 100


def spread(hits: Sequence[Hit], *, k: int, question: str) -> list[Hit]:
    """Return k hits, best first, spread over files unless the question names the file."""
    asked = question.lower()
    seen: Counter[str] = Counter()
    standing = []
    # what stands lower rises only when very much above it decays or is a copy
    for hit in hits[: DEPTH * k + MARGIN]:
        path = hit.chunk.path
        standing.append(hit if _is_named(path, asked) else _decayed(hit, seen[path]))
        seen[path] += 1
    standing.sort(key=lambda hit: -hit.score)
    return list(_distinct(standing, k))


def _decayed(hit: Hit, before: int) -> Hit:
    """Return the hit as it stands after so many others of its file."""
    lost = hit.score * (FILE_DECAY**before - 1.0)
    if not lost:
        return hit
    return replace(hit, score=hit.score + lost, shares={**hit.shares, "spread": lost})


def _is_named(path: str, question: str) -> bool:
    name = path.rpartition("/")[2]
    return "." in name and name.lower() in question


def _distinct(hits: Sequence[Hit], k: int) -> Iterable[Hit]:
    """Yield k hits, leaving out copies of those before."""
    kept: list[frozenset[str]] = []
    for hit in hits[: DEPTH * k]:
        lines = frozenset(line.strip() for line in hit.chunk.text.split("\n"))
        if any(_is_copy(lines, other) for other in kept):
            continue
        kept.append(lines)
        yield hit
        if len(kept) == k:
            return


def _is_copy(one: frozenset[str], other: frozenset[str]) -> bool:
    small, large = sorted((len(one), len(other)))
    return small >= SAME_LINES * large and len(one & other) >= SAME_LINES * len(one | other)
