"""Leave out pairs that say again what an earlier one said, word for word or nearly."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from askcode.training.pairs import CHANGE, NAME, Pair

# The same words for other code: overloads, and what every project calls alike.
MAX_SAME_TEXT = 2
MAX_SAME_NAME = 6
# Digests of windows of this many words; two codes that share all of a band's least ones are
# near-duplicates: with bands of three, at a Jaccard likeness of 0.8 half of them are found in
# one band, 0.9 of them in four.
SHINGLE = 4
BANDS = 4
BAND_ROWS = 3

_WORD = re.compile(r"[A-Za-z]+|\d+")
_SEEDS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)


class Deduper:
    """Remember what was seen, and tell whether a pair is news."""

    def __init__(self) -> None:
        self.left_out: Counter[str] = Counter()
        self._texts: Counter[int] = Counter()
        self._codes: set[int] = set()
        self._bands: set[int] = set()

    def news(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs that no earlier one repeats."""
        for pair in pairs:
            why = self._why_not(pair)
            if why:
                self.left_out[why] += 1
            else:
                yield pair

    def _why_not(self, pair: Pair) -> str:
        said = zlib.crc32(" ".join(_WORD.findall(pair.text.lower())).encode())
        said = said << 1 | (pair.kind == NAME)
        if self._texts[said] >= (MAX_SAME_NAME if pair.kind == NAME else MAX_SAME_TEXT):
            return "same words"
        if pair.kind == CHANGE:  # its code is that of a doc's pair, too
            self._texts[said] += 1
            return ""
        words = _WORD.findall(pair.code.lower())
        code = hash_of(words)
        if code in self._codes:
            return "same code"
        bands = near_bands(words)
        if any(band in self._bands for band in bands):
            return "near-duplicate"
        self._texts[said] += 1
        self._codes.add(code)
        self._bands.update(bands)
        return ""


def hash_of(words: Sequence[str]) -> int:
    """Return a digest of words that is the same in every run."""
    data = " ".join(words).encode()
    return zlib.crc32(data) << 32 | zlib.adler32(data)


def near_bands(words: Sequence[str]) -> list[int]:
    """Return the digests of which near-duplicates share at least one."""
    if len(words) < SHINGLE * 4:
        return []  # so short that the exact digest tells
    digests = [zlib.crc32(word.encode()) for word in words]
    shingles = {
        (one * 31 + two * 1009 + three * 9176263 + four) & 0xFFFFFFFF
        for one, two, three, four in zip(
            digests, digests[1:], digests[2:], digests[3:], strict=False
        )
    }
    bands = []
    for place in range(BANDS):
        seed = _SEEDS[place]
        least = sorted((shingle * seed) & 0xFFFFFFFF for shingle in shingles)[:BAND_ROWS]
        bands.append(hash((place, *least)))
    return bands
