"""Train the tokenizer: word pieces over the parts of identifiers, in lower case."""

from __future__ import annotations

import random
import string
from collections.abc import Iterable, Iterator
from typing import Any

from askcode.training.mixing import asked_text, near_path
from askcode.training.pairs import Pair
from askcode.training.recipe import Recipe

PAD, UNKNOWN = "[PAD]", "[UNK]"
SPECIAL = (PAD, UNKNOWN)

# A part of the pairs tells the frequent words as well as all of them do.
SAMPLE = 300_000
# Of other scripts a sum of letters would be all there is: their words are left to text search.
ALPHABET = tuple(string.ascii_lowercase + string.digits)
_INNER = "##"
LONGEST_WORD = 64


def new_tokenizer() -> Any:
    """Return an untrained tokenizer.

    Identifiers fall apart at `_`, `-`, `.` and where the case changes: `parseHTTPHeader` is
    `parse http header`.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(
        models.WordPiece(unk_token=UNKNOWN, max_input_chars_per_word=LONGEST_WORD)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"(?<=[a-z0-9])(?=[A-Z])"), " "),
            normalizers.Replace(Regex(r"(?<=[A-Z])(?=[A-Z][a-z])"), " "),
            normalizers.NFD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[^\p{L}\p{N}]+"), "removed"),
            pre_tokenizers.Digits(individual_digits=False),
        ]
    )
    return tokenizer


def train_tokenizer(pairs: Iterable[Pair], recipe: Recipe) -> Any:
    """Return a tokenizer with the recipe's number of pieces, learnt from pairs."""
    from tokenizers import models, trainers

    tokenizer = new_tokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=recipe.vocabulary,
        # left to itself, the trainer numbers inner letters in an order that changes by the run
        special_tokens=[*SPECIAL, *(f"{_INNER}{letter}" for letter in ALPHABET)],
        initial_alphabet=list(ALPHABET),
        limit_alphabet=len(ALPHABET),
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(pairs, recipe), trainer)
    trained = new_tokenizer()
    trained.model = models.WordPiece(
        tokenizer.get_vocab(), unk_token=UNKNOWN, max_input_chars_per_word=LONGEST_WORD
    )
    trained.add_special_tokens(list(SPECIAL))
    return trained


def _texts(pairs: Iterable[Pair], recipe: Recipe) -> Iterator[str]:
    """Yield the texts of a part of the pairs, the same in every run."""
    kept = list(pairs)
    chance = random.Random(recipe.seed)
    if len(kept) > SAMPLE:
        kept = chance.sample(kept, SAMPLE)
    for pair in kept:
        yield asked_text(pair, chance)
        yield f"{near_path(pair)}\n{pair.name}\n{pair.code}"
