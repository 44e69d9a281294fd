"""Put the texts and codes of a batch together from their parts, anew in each epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from askcode.training.encoding import ASKED, Floats, Ints, Tokens
from askcode.training.recipe import Recipe

Places = npt.NDArray[np.int64]
Picked = tuple[Places, Ints, Floats]


@dataclass(frozen=True, slots=True)
class Composed:
    """The texts and the codes of a batch: a row each, a column for each token, its weight."""

    texts: Any
    codes: Any


def compose(
    tokens: Tokens, places: Places, recipe: Recipe, epoch: int, chance: np.random.Generator
) -> Composed:
    """Return scipy matrices of shape (pairs, vocabulary) for the pairs at some places.

    Codes come with their path, their name, or as a piece, by the shares of the recipe.
    """

    def some(share: float) -> npt.NDArray[np.bool_]:
        return chance.random(len(places)) < share

    def part(name: str, chosen: npt.NDArray[np.bool_]) -> Picked:
        rows = np.flatnonzero(chosen)
        return tokens.parts[name].pick(places[rows], rows)

    is_piece = some(recipe.as_piece) & (tokens.parts["piece"].lengths(places) > 0)
    texts = [part(ASKED[epoch % len(ASKED)], some(1.0))]
    codes = [
        part("code", ~is_piece),
        part("piece", is_piece),
        part("path", some(recipe.with_path)),
        part("name", some(recipe.with_name)),
    ]
    shape = (len(places), tokens.vocabulary)
    return Composed(weighed(texts, shape), weighed(codes, shape))


def weighed(parts: list[Picked], shape: tuple[int, int]) -> Any:
    """Return the tokens of all parts as one sparse matrix, n of a kind as the root of n."""
    from scipy.sparse import csr_array

    rows, tokens, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    matrix = csr_array((counts, (rows, tokens)), shape=shape)
    matrix.sum_duplicates()
    matrix.data = np.sqrt(matrix.data)
    return matrix


def pooled(vectors: Floats, tokens: Tokens, part: str, places: Places) -> Floats:
    """Return the vector of a part of each pair, of length one; zeros where it has no tokens."""
    picked: Picked = tokens.parts[part].pick(places, np.arange(len(places)))
    sums: Floats = weighed([picked], (len(places), len(vectors))) @ vectors
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(norms > 0, norms, 1)).astype(np.float32)
