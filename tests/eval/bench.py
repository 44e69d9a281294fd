"""Measure retrieval: index every tree whole, ask every question, print the table.

    python -m tests.eval.bench               the table, index seconds, query times
    python -m tests.eval.bench --ablation    what the ranking loses without each of its parts
    python -m tests.eval.bench --grading     how well questions of other repositories are refused;
                                             with --others FOLDER asked of the trees there, too
    python -m tests.eval.bench --fresh       index anew what was indexed by an earlier run

Results go to results.jsonl in the work folder (BENCH_WORK): one object a question with its
ranked places.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from askcode.fusing import Weights
from askcode.records import Hit, Question
from askcode.retrieving import Retriever
from askcode.scoring import mean, score_files
from askcode.sessions import indexing, without_llm
from askcode.settings import Settings, load_settings
from askcode.wiring import make_retriever, open_index
from tests.eval.questions import BenchQuestion, BenchSet, load_bench, work_folder
from tests.eval.scoring import Scored, percentile, table

TOP_K = 50

# What each part of the ranking is when it does nothing; where it is not zero.
NEUTRAL = {"test": 1.0, "auxiliary": 1.0}


@dataclass(frozen=True, slots=True)
class Run:
    """The answers to all questions, with what they took."""

    scored: tuple[Scored, ...]
    milliseconds: tuple[float, ...]
    rows: tuple[dict[str, object], ...]


def settings_for(root: Path, place: Path) -> Settings:
    """Return the settings of a machine where nothing is configured."""
    return load_settings(
        root,
        {"index_dir": str(place)},
        environment={"HOME": str(place)},
        user_file=place / "none.toml",
    )


def index_trees(roots: Sequence[Path], folder: Path, *, is_fresh: bool) -> dict[Path, Settings]:
    """Index every tree whole; return the settings that open each index, by its root."""
    opened = {}
    seconds = 0.0
    for root in roots:
        settings = settings_for(root, folder / root.name)
        opened[root] = settings
        wanted = replace(without_llm(), rebuild=is_fresh)
        started = time.perf_counter()
        with indexing(settings, root, wanted) as session:
            report = session.indexer.run(session.indexer.survey())
            session.keep(report)
        seconds += time.perf_counter() - started
        print(
            f"{root.name:24} {report.indexed:5} files indexed, {report.chunks_total:6} chunks, "
            f"{time.perf_counter() - started:6.1f} s",
            flush=True,
        )
    print(f"{'indexed in':24} {seconds:.1f} s\n", flush=True)
    return opened


def open_retrievers(settings: Mapping[Path, Settings]) -> dict[str, Retriever]:
    """Return the search over each index, as `askcode search` makes it, by the tree's name."""
    return {root.name: make_retriever(open_index(one, root), one) for root, one in settings.items()}


def run_questions(questions: Sequence[BenchQuestion], retrievers: Mapping[str, Retriever]) -> Run:
    """Ask every question of its own tree."""
    scored, times, rows = [], [], []
    for question in questions:
        asked = Question(question.text, (question.text,))
        started = time.perf_counter()
        hits = retrievers[question.repo].retrieve(asked, k=TOP_K).hits
        times.append((time.perf_counter() - started) * 1000)
        score = score_files([hit.chunk.path for hit in hits], question.relevant)
        scored.append(Scored(question.source, question.category, question.repo, score))
        rows.append(_row(question, hits, times[-1]))
    return Run(tuple(scored), tuple(times), tuple(rows))


def _row(question: BenchQuestion, hits: Sequence[Hit], milliseconds: float) -> dict[str, object]:
    ranked = [
        {"path": hit.chunk.path, "start": hit.chunk.start_line, "end": hit.chunk.end_line}
        for hit in hits
    ]
    return {
        "id": question.id,
        "repo": question.repo,
        "query": question.text,
        "ranked": ranked,
        "ms": round(milliseconds, 2),
    }


def print_table(run: Run, folder: Path) -> None:
    """Print the scores and times, and write the results."""
    print("\n".join(table(run.scored)))
    print(
        f"\nquery time in the process: p50 {percentile(run.milliseconds, 0.5):.1f} ms, "
        f"p95 {percentile(run.milliseconds, 0.95):.1f} ms"
    )
    results = folder / "results.jsonl"
    results.write_text("".join(json.dumps(row) + "\n" for row in run.rows), "utf-8")
    print(f"results: {results}")


def ablations() -> Iterator[tuple[str, Weights]]:
    """Yield the ranking without each of its parts."""
    full = Weights()
    for part in fields(Weights):
        yield part.name, replace(full, **{part.name: NEUTRAL.get(part.name, 0.0)})


def print_ablation(bench: BenchSet, retrievers: Mapping[str, Retriever]) -> None:
    """Print what NDCG@10 and hit@1 lose without each part of the ranking."""
    full = _means(run_questions(bench.questions, retrievers))
    print(f"{'without':16} NDCG@10   hit@1    by source")
    for name, weights in ablations():
        changed = {repo: replace(one, weights=weights) for repo, one in retrievers.items()}
        less = _means(run_questions(bench.questions, changed))
        drops = "  ".join(
            f"{key} {less[key] - full[key]:+.4f}" for key in full if key not in ("all", "hit@1")
        )
        print(
            f"{name:16} {less['all'] - full['all']:+.4f}   {less['hit@1'] - full['hit@1']:+.4f}  "
            f"{drops}",
            flush=True,
        )


def _means(run: Run) -> dict[str, float]:
    sources = sorted({one.source for one in run.scored})
    return {
        "all": mean([one.score.ndcg for one in run.scored]),
        "hit@1": mean([one.score.first for one in run.scored]),
        **{
            source: mean([one.score.ndcg for one in run.scored if one.source == source])
            for source in sources
        },
    }


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--grading", action="store_true")
    parser.add_argument("--others", type=Path, help="a folder of trees no question is about")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument(
        "--repo", action="append", default=[], help="only this tree; again for more"
    )
    asked = parser.parse_args()
    folder = work_folder()
    bench = load_bench(asked.repo)
    roots = [bench.trees / repo for repo in bench.repos]
    if asked.others:
        roots += sorted(path for path in asked.others.iterdir() if path.is_dir())
    retrievers = open_retrievers(index_trees(roots, folder / "indexes", is_fresh=asked.fresh))
    if asked.ablation:
        print_ablation(bench, retrievers)
    elif asked.grading:
        from tests.eval.refusing import print_grading

        print_grading(bench, retrievers)
    else:
        print_table(run_questions(bench.questions, retrievers), folder)


if __name__ == "__main__":
    main()
