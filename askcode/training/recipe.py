"""Every choice of the training that a measurement made, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the model is trained; what each choice is worth stands in the model card."""

    seed: int = 1
    vocabulary: int = 32_000
    dim: int = 256
    epochs: int = 4
    batch: int = 2048
    temperature: float = 0.05
    learning_rate: float = 5e-3
    warm_up: float = 0.05
    """The part of the steps in which the learning rate rises; it falls linearly after."""
    group: int = 64
    """So many pairs of one package stand together in a batch: hard negatives."""
    text_tokens: int = 64
    code_tokens: int = 192
    finer_share: float = 0.0
    """The part of the texts that is cut into smaller pieces: sub-word regularisation."""
    token_weights: bool = False
    """Whether each token has a weight of its own in the mean."""
    nested_dims: tuple[int, ...] = ()
    """Prefixes of the vectors that are trained to serve alone (Matryoshka)."""
    runs: int = 1
    """So many runs over other orders of the data start alike and are averaged."""


RECIPE = Recipe()
