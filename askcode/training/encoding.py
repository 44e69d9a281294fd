"""Turn pairs into arrays of tokens: the parts that texts and codes are put together from."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from askcode.training.mixing import asked_text, near_path, piece_of
from askcode.training.pairs import NAME, Pair
from askcode.training.recipe import Recipe

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

# So many pairs are kept out of the training to measure on.
HELD_OUT = 4000
# So many ways to ask for each pair's code are written down; epochs take turns.
ASKED = ("asked0", "asked1", "asked2")
PARTS = (*ASKED, "code", "piece", "path", "name")
MOST_TOKENS = {"path": 32, "name": 24}
_BATCH = 4096
_MOST_COUNTED = 255


@dataclass(frozen=True, slots=True)
class Bags:
    """Texts as their distinct tokens, each with how often it stands there.

    Those of text i are `tokens[starts[i] : starts[i + 1]]`.
    """

    tokens: Ints
    counts: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def lengths(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return how many distinct tokens some texts have."""
        return self.starts[places + 1] - self.starts[places]

    def pick(
        self, places: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], Ints, Floats]:
        """Return the tokens of texts: for each the row that its text gets, itself, its count."""
        lengths = self.lengths(places)
        begins = np.cumsum(lengths) - lengths
        found = np.repeat(self.starts[places] - begins, lengths) + np.arange(lengths.sum())
        counts = self.counts[found].astype(np.float32)
        return np.repeat(rows, lengths), self.tokens[found], counts


@dataclass(frozen=True, slots=True)
class Tokens:
    """The pairs as tokens, part by part; the last pairs are held out."""

    parts: dict[str, Bags]
    packages: Ints
    """A number for each pair's package."""
    held_out: int
    vocabulary: int

    def __len__(self) -> int:
        return len(self.packages)


def split_pairs(pairs: Iterable[Pair], seed: int) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs to train on, in random order, and those to measure on."""
    kept = list(pairs)
    random.Random(seed).shuffle(kept)
    count = min(HELD_OUT, len(kept) // 10)
    return kept[count:], kept[:count]


def encode_pairs(
    train: Sequence[Pair], held_out: Sequence[Pair], tokenizer_file: Path, recipe: Recipe
) -> Tokens:
    """Return all pairs as tokens, those held out last."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    pairs = [*train, *held_out]
    numbers: dict[str, int] = {}
    packages = np.array([numbers.setdefault(one.package, len(numbers)) for one in pairs], np.int32)
    most = {
        **dict.fromkeys(ASKED, recipe.text_tokens),
        **dict.fromkeys(("code", "piece"), recipe.code_tokens),
        **MOST_TOKENS,
    }
    parts = {}
    for number, part in enumerate(PARTS):
        chance = random.Random(recipe.seed * 100 + number)
        texts = (_part_of(part, pair, chance) for pair in pairs)
        parts[part] = _encode(texts, tokenizer, most[part])
    return Tokens(parts, packages, len(held_out), tokenizer.get_vocab_size())


def _part_of(part: str, pair: Pair, chance: random.Random) -> str:
    if part in ASKED:
        return asked_text(pair, chance)
    if part == "piece":
        return piece_of(pair.code, chance)
    if part == "path":
        return near_path(pair)
    if part == "name":
        return "" if pair.kind == NAME else pair.name  # that of a masked one is what is asked
    return pair.code


def _encode(texts: Iterator[str], tokenizer: Any, most: int) -> Bags:
    """Return texts cut after so many tokens."""
    made: list[Bags] = []
    while chunk := list(islice(texts, _BATCH)):
        encodings = tokenizer.encode_batch_fast(chunk, add_special_tokens=False)
        made.append(_bags([encoding.ids[:most] for encoding in encodings]))
    lengths = [np.diff(one.starts) for one in made]
    return Bags(
        np.concatenate([one.tokens for one in made]),
        np.concatenate([one.counts for one in made]),
        np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64),
    )


def _bags(texts: Sequence[Sequence[int]]) -> Bags:
    """Count the tokens of each text."""
    owners = np.repeat(np.arange(len(texts), dtype=np.int64), [len(ids) for ids in texts])
    tokens = np.fromiter((token for ids in texts for token in ids), np.int64, len(owners))
    keys, counts = np.unique(owners << 32 | tokens, return_counts=True)
    starts = np.searchsorted(keys >> 32, np.arange(len(texts) + 1))
    return Bags(
        (keys & 0xFFFFFFFF).astype(np.int32),
        np.minimum(counts, _MOST_COUNTED).astype(np.uint8),
        starts.astype(np.int64),
    )


def save_tokens(path: Path, tokens: Tokens) -> None:
    """Write tokens, all or nothing."""
    unfinished = path.with_name(f"part-{path.name}")
    arrays: dict[str, Any] = {
        "packages": tokens.packages,
        "sizes": np.array([tokens.held_out, tokens.vocabulary]),
    }
    for part, bags in tokens.parts.items():
        arrays[f"{part}.tokens"] = bags.tokens
        arrays[f"{part}.counts"] = bags.counts
        arrays[f"{part}.starts"] = bags.starts
    np.savez(unfinished, **arrays)
    unfinished.replace(path)


def load_tokens(path: Path) -> Tokens:
    """Read what `save_tokens` wrote."""
    with np.load(path) as arrays:
        parts = {
            part: Bags(*(arrays[f"{part}.{name}"] for name in ("tokens", "counts", "starts")))
            for part in PARTS
        }
        held_out, vocabulary = (int(size) for size in arrays["sizes"])
        return Tokens(parts, arrays["packages"], held_out, vocabulary)
