"""Fit one vector to each token, so that texts are near the code that they are about."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from askcode.training.encoding import Bags, Tokens
from askcode.training.recipe import Recipe

# Rows of the special tokens stay zero: they must not move a mean.
SPECIAL_ROWS = 2
INITIAL_SCALE = 0.1


def fit(tokens: Tokens, recipe: Recipe) -> npt.NDArray[np.float32]:
    """Return the vectors, float32, shape (vocabulary, dim); the same for the same seed.

    The loss is symmetric InfoNCE (van den Oord et al. 2018) over each batch.
    """
    import torch

    torch.manual_seed(recipe.seed)
    first = torch.randn(tokens.vocabulary, recipe.dim) * INITIAL_SCALE
    first[:SPECIAL_ROWS] = 0
    runs = [_run(tokens, recipe, first.clone(), recipe.seed + run) for run in range(recipe.runs)]
    mean: npt.NDArray[np.float32] = np.mean(runs, axis=0).astype(np.float32)
    return mean


def batches(
    packages: npt.NDArray[np.int32], recipe: Recipe, seed: int
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the places of the pairs of each batch of one epoch: groups of one package each."""
    chance = np.random.default_rng(seed)
    order = chance.permutation(len(packages))
    order = order[np.argsort(packages[order], kind="stable")]
    groups = [order[i : i + recipe.group] for i in range(0, len(order), recipe.group)]
    mixed = np.concatenate([groups[place] for place in chance.permutation(len(groups))])
    for begin in range(0, max(len(mixed) - recipe.batch, 0) + 1, recipe.batch):
        yield mixed[begin : begin + recipe.batch]


def _run(tokens: Tokens, recipe: Recipe, table: Any, seed: int) -> npt.NDArray[np.float32]:
    import torch

    count = len(tokens.texts) - tokens.held_out
    packages = tokens.packages[:count]
    bag = torch.nn.EmbeddingBag.from_pretrained(table, freeze=False, mode="sum", padding_idx=0)
    weights = torch.nn.Parameter(torch.zeros(tokens.vocabulary, 1))
    learnt = [bag.weight, weights] if recipe.token_weights else [bag.weight]
    optimizer = torch.optim.Adam(learnt, lr=recipe.learning_rate)
    steps = recipe.epochs * max(count // recipe.batch, 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps, recipe))
    for epoch in range(recipe.epochs):
        for places in batches(packages, recipe, seed * 1000 + epoch):
            loss = _loss(
                _pooled(bag, weights, tokens.texts.pick(places), recipe),
                _pooled(bag, weights, tokens.codes.pick(places), recipe),
                recipe,
            )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            bag.weight.grad[:SPECIAL_ROWS] = 0
            optimizer.step()
            schedule.step()
    fitted = bag.weight.detach() * (weights.detach().exp() if recipe.token_weights else 1)
    result: npt.NDArray[np.float32] = fitted.numpy()
    return result


def _pooled(bag: Any, weights: Any, bags: Bags, recipe: Recipe) -> Any:
    import torch

    ids = torch.from_numpy(bags.tokens.astype(np.int64))
    scale = weights.exp()[ids, 0] if recipe.token_weights else None
    return bag(ids, torch.from_numpy(bags.starts[:-1]), per_sample_weights=scale)


def _loss(texts: Any, codes: Any, recipe: Recipe) -> Any:
    dims = (*recipe.nested_dims, recipe.dim)
    losses = [_contrast(texts[:, :dim], codes[:, :dim], recipe.temperature) for dim in dims]
    return sum(losses) / len(losses)


def _contrast(texts: Any, codes: Any, temperature: float) -> Any:
    import torch
    from torch.nn import functional

    likeness = functional.normalize(texts) @ functional.normalize(codes).T / temperature
    own = torch.arange(len(likeness))
    there, back = functional.cross_entropy(likeness, own), functional.cross_entropy(likeness.T, own)
    return (there + back) / 2


def _rate(step: int, steps: int, recipe: Recipe) -> float:
    warm = max(math.ceil(steps * recipe.warm_up), 1)
    if step < warm:
        return (step + 1) / warm
    return max((steps - step) / max(steps - warm, 1), 0.0)
