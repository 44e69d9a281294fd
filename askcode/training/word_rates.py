"""Count in how much of ordinary code each word stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from askcode.tokenizing import code_tokens
from askcode.training.pairs import Pair, read_pairs
from askcode.word_rates import LEAST, UNIT, root

PER_PACKAGE = 150
"""So many definitions of a package count, for large ones must not decide what is ordinary."""


def write_rates(files: Sequence[Path], target: Path) -> None:
    """Write the words of mined packages, one file of pairs each, with their rates."""
    pairs = (pair for file in files for pair in spread_over(list(read_pairs(file))))
    rows = sorted(count_rates(pairs).items())
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.write_text("".join(f"{word}\t{count}\n" for word, count in rows), "utf-8")
    unfinished.replace(target)


def count_rates(pairs: Iterable[Pair]) -> dict[str, int]:
    """Return for the root of each word in how many of UNIT definitions it stands, if often."""
    counts: Counter[str] = Counter()
    total = 0
    for pair in pairs:
        total += 1
        counts.update(set(map(root, code_tokens(f"{pair.path}\n{pair.text}\n{pair.code}"))))
    least = LEAST * total
    return {
        word: round(count / total * UNIT)
        for word, count in counts.items()
        if count >= least and not word.isdigit()
    }


def spread_over(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Yield at most PER_PACKAGE pairs, at equal distances."""
    step = max(1.0, len(pairs) / PER_PACKAGE)
    return (pairs[int(place * step)] for place in range(min(len(pairs), PER_PACKAGE)))
