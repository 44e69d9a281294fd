"""Measure how well questions that belong to other repositories are told from a tree's own."""

from __future__ import annotations

import glob
import random
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields

import numpy as np

from askcode.fusing import fuse
from askcode.grading import FLOOR, Signs, is_surely_known, read_signs
from askcode.records import Filters
from askcode.retrieving import Retriever
from askcode.wording import read_words
from tests.eval.questions import BenchQuestion, BenchSet

# How many files besides its own a question is asked of, for a small code base.
FEW = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked of one tree."""

    question: BenchQuestion
    repo: str
    is_whole: bool
    """Whether all of the repository was searched, not a few files of it."""
    belongs: bool
    is_surely_known: bool
    signs: Signs


def ask_all(bench: BenchSet, retrievers: Mapping[str, Retriever]) -> list[Asked]:
    """Ask every question of its own tree and of one of another project, and of a few files."""
    chance = random.Random(1)
    files = {repo: sorted(one.store.files()) for repo, one in retrievers.items()}
    asked = []
    for question in bench.questions:
        others = [repo for repo in retrievers if project(repo) != project(question.repo)]
        for repo in (question.repo, *(chance.sample(others, 1) if others else ())):
            wanted = question.relevant[:2] if repo == question.repo else ()
            few = [*wanted, *chance.sample(files[repo], min(len(files[repo]), chance.choice(FEW)))]
            globs = tuple("/" + glob.escape(path) for path in few)
            asked += [
                _ask(question, repo, retrievers[repo], filters)
                for filters in (Filters(), Filters(globs))
            ]
    return asked


def _ask(question: BenchQuestion, repo: str, retriever: Retriever, filters: Filters) -> Asked:
    found = retriever.found(question.text, filters=filters)
    words = read_words(question.text)
    hits = fuse(question.text, [found])
    return Asked(
        question,
        repo,
        not filters.path_globs,
        repo == question.repo,
        is_surely_known(words, found, hits),
        read_signs(words, found, hits, size=retriever.store.count(filters)),
    )


def project(repo: str) -> str:
    """Return the project of a tree: some stand in the benchmark at two commits."""
    return repo.split("-")[0]


def print_grading(bench: BenchSet, retrievers: Mapping[str, Retriever]) -> None:
    """Print what the floor refuses, and the weights that a new fit would give."""
    asked = ask_all(bench, retrievers)
    for is_whole, name in ((True, "whole trees"), (False, "a few files")):
        print(f"\n{name}")
        _print_refused([one for one in asked if one.is_whole == is_whole])
    bias, weights = fit(asked)
    print("\na new fit:  BIAS", round(bias, 2))
    for field, weight in zip(fields(Signs), weights, strict=True):
        print(f"  {field.name:14} {weight:.2f}")


def _print_refused(asked: list[Asked]) -> None:
    own = [one for one in asked if one.belongs]
    foreign = [one for one in asked if not one.belongs]
    print(f"floor {FLOOR}: refused of {len(own)} own questions {_refused(own, FLOOR):.1%}, "
          f"of {len(foreign)} foreign ones {_refused(foreign, FLOOR):.1%}")  # fmt: skip
    for source in sorted({one.question.source for one in own}):
        parts = [
            [one for one in group if one.question.source == source] for group in (own, foreign)
        ]
        print(f"  {source:12} {_refused(parts[0], FLOOR):6.1%} {_refused(parts[1], FLOOR):6.1%}")
    for shown in (0.01, 0.02, 0.03, 0.05):
        floor = _floor_that_refuses(own, shown)
        print(f"floor {floor:.3f} refuses {shown:.0%} of own and {_refused(foreign, floor):.1%}")


def _refused(asked: list[Asked], floor: float) -> float:
    return sum(one.signs.chance < floor and not one.is_surely_known for one in asked) / len(asked)


def _floor_that_refuses(asked: list[Asked], share: float) -> float:
    chances = sorted(1.0 if one.is_surely_known else one.signs.chance for one in asked)
    return chances[int(share * len(chances))]


def fit(asked: list[Asked], *, rounds: int = 50, ridge: float = 1e-2) -> tuple[float, list[float]]:
    """Return bias and weights of a logistic regression, by Newton's method."""
    values = np.array([astuple(one.signs) for one in asked])
    middle, width = values.mean(0), values.std(0) + 1e-9
    inputs = np.column_stack([(values - middle) / width, np.ones(len(asked))])
    wanted = np.array([one.belongs for one in asked], float)
    weights = np.zeros(inputs.shape[1])
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        bend = (inputs * (chance * (1 - chance))[:, None]).T @ inputs
        slope = inputs.T @ (wanted - chance) - ridge * weights
        weights += np.linalg.solve(bend + ridge * np.eye(len(weights)), slope)
    scaled = weights[:-1] / width
    return float(weights[-1] - scaled @ middle), [float(weight) for weight in scaled]
