"""The questions of the benchmark: from BENCH_QUERIES and BENCH_TREES, or from the originals."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question about one tree, with the files that are known to answer it."""

    id: str
    repo: str
    text: str
    source: str
    category: str
    relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchSet:
    """Questions, and the folder with one tree for each repository they are about."""

    questions: tuple[BenchQuestion, ...]
    trees: Path

    @property
    def repos(self) -> list[str]:
        """Return the names of the trees, in the order of the questions."""
        return list(dict.fromkeys(question.repo for question in self.questions))


def work_folder() -> Path:
    """Return where indexes, results and downloaded trees go: BENCH_WORK or a temporary folder."""
    folder = Path(os.environ.get("BENCH_WORK") or Path(tempfile.gettempdir()) / "askcode-bench")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def load_bench(only: Sequence[str] = ()) -> BenchSet:
    """Return the questions with their trees; some repositories only, when they are named.

    BENCH_SET=development gives those that choices are made on, in place of the benchmark's.
    """
    queries, trees = os.environ.get("BENCH_QUERIES"), os.environ.get("BENCH_TREES")
    if queries and trees:
        found = BenchSet(tuple(read_questions(Path(queries))), Path(trees))
    elif os.environ.get("BENCH_SET") == "development":
        from tests.eval.development import fetch_development

        found = fetch_development(work_folder() / "development")
    else:
        from tests.eval.originals import fetch_originals

        found = fetch_originals(work_folder() / "originals")
    if not only:
        return found
    return BenchSet(tuple(one for one in found.questions if one.repo in only), found.trees)


def read_questions(path: Path) -> list[BenchQuestion]:
    """Read questions from a file with one JSON object a line."""
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
    return [
        BenchQuestion(
            row["id"],
            row["repo"],
            row["query"],
            row["source"],
            row["category"],
            tuple(one["path"] for one in row["relevant"]),
        )
        for row in rows
    ]
