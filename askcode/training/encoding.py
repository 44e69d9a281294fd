"""Turn pairs into arrays of tokens, packed one behind the other."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from askcode.training.mixing import asked_text, embedded_code
from askcode.training.pairs import Pair
from askcode.training.recipe import Recipe
from askcode.training.word_pieces import finer_tokenizer

Ints = npt.NDArray[np.int32]

# So many pairs are kept out of the training to measure on.
HELD_OUT = 4000
FINER_PIECES = 6000
_BATCH = 4096


@dataclass(frozen=True, slots=True)
class Bags:
    """Texts as tokens: those of text i are `tokens[starts[i] : starts[i + 1]]`."""

    tokens: Ints
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def pick(self, places: npt.NDArray[np.int64]) -> Bags:
        """Return the texts at some places, in that order."""
        lengths = self.starts[places + 1] - self.starts[places]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return Bags(self.tokens[np.repeat(self.starts[places], lengths) + within], starts)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The pairs as tokens: text i belongs to code i; the last ones are held out."""

    texts: Bags
    codes: Bags
    packages: Ints
    """A number for each pair's package."""
    held_out: int
    vocabulary: int


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
    chance = random.Random(recipe.seed)
    texts = _encode((asked_text(one, chance) for one in pairs), tokenizer, recipe.text_tokens)
    share = recipe.finer_share
    finer = finer_tokenizer(tokenizer, FINER_PIECES) if share else None
    codes = _encode(
        (embedded_code(one, chance) for one in pairs), tokenizer, recipe.code_tokens, finer, share
    )
    return Tokens(texts, codes, packages, len(held_out), tokenizer.get_vocab_size())


def _encode(
    texts: Iterator[str], tokenizer: Any, most: int, finer: Any = None, share: float = 0.0
) -> Bags:
    """Return texts cut after so many tokens; each n-th batch by the finer tokenizer."""
    parts: list[Ints] = []
    lengths: list[int] = []
    batch = 0.0
    while chunk := list(islice(texts, _BATCH)):
        batch += share
        reading = finer if batch >= 1 else tokenizer
        batch -= batch >= 1
        for encoding in reading.encode_batch_fast(chunk, add_special_tokens=False):
            ids = np.array(encoding.ids[:most], np.int32)
            parts.append(ids)
            lengths.append(len(ids))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Bags(np.concatenate(parts) if parts else np.zeros(0, np.int32), starts)


def save_tokens(path: Path, tokens: Tokens) -> None:
    """Write tokens, all or nothing."""
    unfinished = path.with_name(f"part-{path.name}")
    np.savez(
        unfinished,
        text_tokens=tokens.texts.tokens,
        text_starts=tokens.texts.starts,
        code_tokens=tokens.codes.tokens,
        code_starts=tokens.codes.starts,
        packages=tokens.packages,
        counts=np.array([tokens.held_out, tokens.vocabulary]),
    )
    unfinished.replace(path)


def load_tokens(path: Path) -> Tokens:
    """Read what `save_tokens` wrote."""
    with np.load(path) as arrays:
        return Tokens(
            Bags(arrays["text_tokens"], arrays["text_starts"]),
            Bags(arrays["code_tokens"], arrays["code_starts"]),
            arrays["packages"],
            int(arrays["counts"][0]),
            int(arrays["counts"][1]),
        )
