"""Fit one vector to each token, so that texts are near the code that they are about."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from askcode.training.composing import Places, compose, pooled
from askcode.training.encoding import Floats, Ints, Tokens
from askcode.training.recipe import Recipe

# Rows of the special tokens stay zero: they must not move a sum.
SPECIAL_ROWS = 2
INITIAL_SCALE = 0.1
WHITENING_CODES = 20_000
LEAST_VARIANCE = 1e-6
# Sums are the same in every run only when one thread adds them up in one order.
THREADS = 1


def fit(tokens: Tokens, recipe: Recipe) -> npt.NDArray[np.float32]:
    """Return the vectors, float32, shape (vocabulary, dim); the same for the same seed.

    The loss is symmetric InfoNCE (van den Oord et al. 2018) over each batch.
    """
    import torch

    torch.manual_seed(recipe.seed)
    torch.set_num_threads(THREADS)
    first = torch.randn(tokens.vocabulary, recipe.dim) * INITIAL_SCALE
    first[:SPECIAL_ROWS] = 0
    runs = [_run(tokens, recipe, first.clone(), recipe.seed + run) for run in range(recipe.runs)]
    return whitened(np.mean(runs, axis=0), tokens, recipe)


def whitened(vectors: Floats, tokens: Tokens, recipe: Recipe) -> Floats:
    """Even out how much the directions of the codes' vectors differ.

    The longest ones tell languages and fields apart, which all code of one code base shares. In
    full, all directions would be alike.
    """
    count = len(tokens) - tokens.held_out
    places = np.random.default_rng(recipe.seed).permutation(count)[:WHITENING_CODES]
    codes = pooled(vectors, tokens, "code", places)
    variances, directions = np.linalg.eigh(codes.T @ codes / len(codes))
    scales = np.maximum(variances, LEAST_VARIANCE) ** -recipe.whitening
    evened: Floats = (vectors @ (directions * scales) @ directions.T).astype(np.float32)
    return evened


def batches(packages: Ints, recipe: Recipe, seed: int) -> Iterator[Places]:
    """Yield the places of the pairs of each batch of one epoch: groups of one package each."""
    chance = np.random.default_rng(seed)
    order = chance.permutation(len(packages))
    order = order[np.argsort(packages[order], kind="stable")]
    groups = [order[i : i + recipe.group] for i in range(0, len(order), recipe.group)]
    mixed = np.concatenate([groups[place] for place in chance.permutation(len(groups))])
    for begin in range(0, max(len(mixed) - recipe.batch, 0) + 1, recipe.batch):
        yield mixed[begin : begin + recipe.batch]


def _run(tokens: Tokens, recipe: Recipe, table: Any, seed: int) -> Floats:
    import torch

    packages = tokens.packages[: len(tokens) - tokens.held_out]
    optimizer = torch.optim.Adam([table], lr=recipe.learning_rate)
    steps = recipe.epochs * max(len(packages) // recipe.batch, 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps, recipe))
    chance = np.random.default_rng(seed)
    for epoch in range(recipe.epochs):
        for places in batches(packages, recipe, seed * 1000 + epoch):
            made = compose(tokens, places, recipe, epoch, chance)
            table.grad = _gradient(table, made.texts, made.codes, recipe)
            optimizer.step()
            schedule.step()
    fitted: Floats = table.numpy()
    return fitted


def _gradient(table: Any, texts: Any, codes: Any, recipe: Recipe) -> Any:
    """Return the gradient of the loss for the table, by hand: sparse products are not torch's."""
    import torch

    asked, found = (torch.from_numpy(one @ table.numpy()) for one in (texts, codes))
    asked_slope, found_slope = torch.zeros_like(asked), torch.zeros_like(found)
    dims = (*recipe.nested_dims, recipe.dim)
    for dim in dims:
        slopes = _slopes(asked[:, :dim], found[:, :dim], recipe.temperature)
        asked_slope[:, :dim] += slopes[0] / len(dims)
        found_slope[:, :dim] += slopes[1] / len(dims)
    gradient = texts.T @ asked_slope.numpy() + codes.T @ found_slope.numpy()
    gradient[:SPECIAL_ROWS] = 0
    return torch.from_numpy(gradient)


def _slopes(texts: Any, codes: Any, temperature: float) -> tuple[Any, Any]:
    """Return the slopes of symmetric InfoNCE for both sides' sums.

    The large products are bfloat16, five times as fast where the processor has it.
    """
    import torch

    text_norms, code_norms = (one.norm(dim=1, keepdim=True) + 1e-8 for one in (texts, codes))
    text_units, code_units = texts / text_norms, codes / code_norms
    rough_texts, rough_codes = text_units.bfloat16(), code_units.bfloat16()
    likeness = (rough_texts @ rough_codes.T).float()
    likeness.diagonal().copy_((text_units * code_units).sum(dim=1))
    # no likeness is above one, so this cannot overflow
    odds = ((likeness - 1) / temperature).exp_()
    odds *= 0.5 / odds.sum(dim=1, keepdim=True) + 0.5 / odds.sum(dim=0, keepdim=True)
    odds.diagonal().sub_(1)
    odds *= 1 / (len(texts) * temperature)
    rough = odds.to(torch.bfloat16)
    text_slopes, code_slopes = (rough @ rough_codes).float(), (rough.T @ rough_texts).float()
    return (
        _through_norm(text_slopes, text_units) / text_norms,
        _through_norm(code_slopes, code_units) / code_norms,
    )


def _through_norm(slopes: Any, units: Any) -> Any:
    """Take the part along the vector out: its length does not count."""
    return slopes - units * (slopes * units).sum(dim=1, keepdim=True)


def _rate(step: int, steps: int, recipe: Recipe) -> float:
    warm = max(math.ceil(steps * recipe.warm_up), 1)
    if step < warm:
        return (step + 1) / warm
    return max((steps - step) / max(steps - warm, 1), 0.0)
