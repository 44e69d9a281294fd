"""Write the model card: what the model learnt from, how, and what was measured."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from askcode.training.recipe import RECIPE, Recipe

TRIALS_FILE = Path(__file__).resolve().parent / "trials.md"

_HEAD = """# The embedding model in askcode

A static embedding for code search, trained from scratch: {vocabulary:,} word pieces, {dim} numbers
each; a text's vector is the sum of its pieces', one that stands there n times counting as the root
of n, at length one. The table is int8 with a scale for each row; the graph counts and adds up. A
text of any length is read whole, in windows of 512 pieces whose vectors are joined. It knows
English and the words of code. Words in other scripts are unknown to it, and a text of nothing else
has a vector of zeros: such questions are left to text search.

`make model` makes it again from nothing.
"""


def write_card(path: Path, work: Path, recipe: Recipe = RECIPE) -> None:
    """Write the card of the model that was made in a work folder."""
    mined = json.loads((work / "mined.json").read_text("utf-8"))
    pairs = json.loads((work / "pairs.json").read_text("utf-8"))
    figures = json.loads((work / "figures.json").read_text("utf-8"))
    parts = [
        _HEAD.format(vocabulary=recipe.vocabulary, dim=recipe.dim),
        _data(pairs, mined),
        _training(recipe),
        _figures(figures),
        TRIALS_FILE.read_text("utf-8").strip(),
        _packages(mined),
    ]
    path.write_text("\n\n".join(part.strip() for part in parts) + "\n", "utf-8")


def _data(pairs: Mapping[str, Any], mined: Iterable[Mapping[str, Any]]) -> str:
    by_language = _counts(pairs["kept"], "language ")
    by_kind = _counts(pairs["kept"], "kind ")
    left_out: Counter[str] = Counter(pairs["left_out"])
    for one in mined:
        left_out.update(one["left_out"])
    rows = [f"| {name} | {count:,} |" for name, count in by_language]
    kinds = ", ".join(f"{name} {count:,}" for name, count in by_kind)
    out = ", ".join(f"{name} {count:,}" for name, count in left_out.most_common())
    return "\n".join(
        [
            "## What it learnt from",
            "",
            f"{pairs['pairs']:,} pairs of words and code: {kinds}.",
            "",
            "A `doc` pair is a doc comment and the definition without it; `name` the words of a",
            "name and the definition",
            "with the name masked; `guide` a section and the code it shows; `change` a line of a",
            "changelog and the definition it names.",
            "",
            "| language | pairs |",
            "| --- | --- |",
            *rows,
            "",
            f"Left out, pairs as what was seen before and files for the rest: {out}.",
            "",
            "The projects of the retrieval benchmark and of the development set are not in it,",
            "vendored copies included:",
            "`askcode/training/excluded.toml` lists them, and the pipeline refuses their packages,",
            "their paths and the docs whose words they have too.",
        ]
    )


def _counts(kept: Mapping[str, int], prefix: str) -> list[tuple[str, int]]:
    chosen = [(name.removeprefix(prefix), n) for name, n in kept.items() if name.startswith(prefix)]
    return sorted(chosen, key=lambda one: -one[1])


def _training(recipe: Recipe) -> str:
    rows = [f"| {name.replace('_', ' ')} | {value} |" for name, value in asdict(recipe).items()]
    return "\n".join(
        ["## How", "", "Symmetric InfoNCE over batches, Adam, in PyTorch.", "", "| | |",
         "| --- | --- |", *rows]
    )  # fmt: skip


def _figures(figures: Mapping[str, float]) -> str:
    rows = [f"| {name.replace('_', ' ')} | {value} |" for name, value in figures.items()]
    return "\n".join(
        ["## On held-out pairs", "",
         "Mean reciprocal rank of a text's own code among a thousand; the model's size.", "",
         "| | |", "| --- | --- |", *rows]
    )  # fmt: skip


def _packages(mined: Iterable[Mapping[str, Any]]) -> str:
    rows = []
    for one in mined:
        if one["pairs"]:
            licences = ", ".join(name for name, count in one["licences"].items() if count and name)
            rows.append(f"{one['package']} {one['version']} ({licences}; {one['pairs']})")
    listed = "; ".join(rows)
    return (
        "## Packages\n\nName, version, the licences of the files that were read, and the pairs "
        f"before duplicates went out.\n\n{listed}."
    )
