"""Every choice of the training that a measurement made, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the model is trained; what each choice is worth stands in the model card."""

    seed: int = 1
    vocabulary: int = 28_000
    dim: int = 512
    epochs: int = 3
    batch: int = 2048
    temperature: float = 0.05
    learning_rate: float = 5e-3
    warm_up: float = 0.05
    """The part of the steps in which the learning rate rises; it falls linearly after."""
    group: int = 64
    """So many pairs of one package stand together in a batch: hard negatives."""
    text_tokens: int = 64
    code_tokens: int = 192
    with_path: float = 0.5
    """The part of the codes that come with the words of their path, and so below."""
    with_name: float = 0.25
    as_piece: float = 0.25
    """A dozen lines in place of the whole."""
    nested_dims: tuple[int, ...] = ()
    """Prefixes of the vectors that are trained to serve alone (Matryoshka)."""
    whitening: float = 0.15
    """How far the directions of the vectors are evened out at the end; 0.5 is wholly."""
    runs: int = 1
    """So many runs over other orders of the data start alike and are averaged."""


RECIPE = Recipe()
