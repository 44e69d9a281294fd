"""Get the benchmark's public originals with git: trees, annotations, and questions from commits.

Three witnesses, each with labels of its own kind:

- the annotations of the semble benchmark (MIT): semantic, architecture and symbol queries;
- SWE-QA-Bench (Apache-2.0): questions whose reference answers name paths;
- later commits: the subject asks, and the one to three source files it edited answer.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from askcode.placing import Part, part_of
from tests.eval.questions import BenchQuestion, BenchSet

GITHUB = "https://github.com/"
SEMBLE = "MinishLab/semble"
SWE_QA = "peng-weihan/SWE-QA-Bench"

COMMITS_PER_REPO = 15
MAX_EDITED_SOURCES = 3
MIN_SUBJECT_WORDS = 4

_CODE = frozenset("c cc cpp cxx go h hpp java js mjs py rb rs ts".split())  # noqa: SIM905
# Subjects that say how a commit was made, and nothing about the code.
_CHORE = re.compile(
    r"^(merge|revert|release|bump|prepare|update (dependenc|changelog|copyright|version)"
    r"|(build|chore|ci|docs?|style|tests?)(\([^)]*\))?!?:)"
    r"|\b(typos?|changelog|lint|formatting|copyright|warnings?)\b",
    re.IGNORECASE,
)
_KIND = re.compile(r"^(feat|fix|perf|refactor)(\([^)]*\))?!?: *", re.IGNORECASE)
_PULL_REQUEST = re.compile(r"\s*\(#\d+\)$")
_PATH_IN_ANSWER = re.compile(r"[\w./-]+\.(?:py|rst|md|toml|cfg)\b")


@dataclass(frozen=True, slots=True)
class Original:
    """A repository at the commit that the questions are about."""

    repo: str
    source: str
    commit: str
    annotated: str = ""
    """The folder that the annotations' paths start in."""


ORIGINALS = (
    Original("flask", "pallets/flask", "258d68b6ff5e2244386540f48b48bab90d6ab827", "src/flask"),
    Original(
        "requests", "psf/requests", "ef439eb779c1eba7cbdeeeb302b11e1e061b4b7d", "src/requests"
    ),
    Original("click", "pallets/click", "04ef3a6f473deb2499721a8d11f92a7d2c0912f2", "src/click"),
    Original("express", "expressjs/express", "8e022edc9185f540a3fcecaf5e56b850d919cdac", "lib"),
    Original("gin", "gin-gonic/gin", "d3ffc9985281dcf4d3bef604cce4e662b1a327a6"),
    Original("gson", "google/gson", "f4d371d29c04066dbe7fdb31f642831f9c7f40cd", "gson"),
    Original("axum", "tokio-rs/axum", "309d1bd9530eec2217134cb262760af1df42ee3b", "axum/src"),
    Original("fmtlib", "fmtlib/fmt", "382609a920d2c43c00f2951233bc0d578a783982", "include/fmt"),
    Original("rack", "rack/rack", "ca8a404704ed043797c4f9d482c97d722c0dc719", "lib/rack"),
    Original("flask-sweqa", "pallets/flask", "85c5d93cbd049c4bd0679c36fd1ddcae8c37b642"),
    Original("requests-sweqa", "psf/requests", "46e939b5525d9c72b677340985582b04b128478a"),
)


def fetch_originals(folder: Path) -> BenchSet:
    """Clone what is missing, export the trees, and return all questions."""
    folder.mkdir(parents=True, exist_ok=True)
    trees = folder / "trees"
    questions: list[BenchQuestion] = []
    for original in ORIGINALS:
        clone = clone_of(original.source, folder)
        tree = trees / original.repo
        if not tree.exists():
            export(clone, original.commit, tree)
        questions += _questions(original, clone, tree, folder)
    return BenchSet(tuple(questions), trees)


def _questions(original: Original, clone: Path, tree: Path, folder: Path) -> list[BenchQuestion]:
    if original.repo.endswith("-sweqa"):
        return list(from_answers(original, clone_of(SWE_QA, folder), tree))
    annotated = from_annotations(original, clone_of(SEMBLE, folder), tree)
    if original.repo == "flask":  # its later commits are in the questions of flask-sweqa
        return list(annotated)
    return [*annotated, *from_commits(original, clone, tree)]


def from_annotations(original: Original, clone: Path, tree: Path) -> Iterator[BenchQuestion]:
    """Yield the questions that the semble benchmark has about a tree."""
    path = f"HEAD:benchmarks/annotations/{original.repo}.json"
    for number, row in enumerate(json.loads(_git(clone, "show", path))):
        named = [*row["relevant"], *row.get("secondary", ())]
        paths = [one if isinstance(one, str) else one["path"] for one in named]
        found = tuple(_in_tree(paths, tree, original.annotated))
        if found:
            yield BenchQuestion(
                f"{original.repo}-semble-{number}",
                original.repo,
                row["query"],
                "semble",
                row["category"],
                found,
            )


def _in_tree(paths: Iterable[str], tree: Path, annotated: str) -> Iterator[str]:
    for path in paths:
        for candidate in (path, f"{annotated}/{path}"):
            if (tree / candidate).is_file():
                yield candidate
                break


def from_answers(original: Original, clone: Path, tree: Path) -> Iterator[BenchQuestion]:
    """Yield the questions of SWE-QA-Bench whose answers name files of a tree."""
    name = original.repo.removesuffix("-sweqa")
    lines = _git(clone, "show", f"HEAD:Benchmark/{name}.jsonl").split("\n")
    files = [one.relative_to(tree).as_posix() for one in tree.rglob("*") if one.is_file()]
    for number, line in enumerate(filter(str.strip, lines)):
        row = json.loads(line)
        named = dict.fromkeys(_PATH_IN_ANSWER.findall(row["answer"]))
        fitting = [[file for file in files if f"/{file}".endswith(f"/{path}")] for path in named]
        found = tuple(dict.fromkeys(one[0] for one in fitting if len(one) == 1))
        if found:
            first_word = row["question"].split()[0].lower()
            yield BenchQuestion(
                f"{original.repo}-{number}",
                original.repo,
                row["question"],
                "sweqa",
                f"qa-{first_word}",
                found,
            )


def from_commits(original: Original, clone: Path, tree: Path) -> Iterator[BenchQuestion]:
    """Yield the subjects of later commits with the source files that they edited."""
    log = _git(
        clone, "log", "--no-merges", "--reverse", "--name-only", "--format=%x01%s",
        f"{original.commit}..HEAD",
    )  # fmt: skip
    found = 0
    for entry in log.split("\x01")[1:]:
        subject, _, names = entry.partition("\n")
        subject = _KIND.sub("", _PULL_REQUEST.sub("", subject.strip()))
        sources = [name for name in names.split("\n") if _is_source(name)]
        if (
            len(subject.split()) < MIN_SUBJECT_WORDS
            or _CHORE.search(subject)
            or not 1 <= len(sources) <= MAX_EDITED_SOURCES
            or not all((tree / name).is_file() for name in sources)
        ):
            continue
        yield BenchQuestion(
            f"{original.repo}-commit-{found}",
            original.repo,
            subject,
            "git-commit",
            "commit",
            tuple(sources),
        )
        found += 1
        if found == COMMITS_PER_REPO:
            return


def _is_source(name: str) -> bool:
    return PurePosixPath(name).suffix[1:] in _CODE and part_of(name) is Part.SOURCE


def clone_of(source: str, folder: Path) -> Path:
    """Return a bare clone of a public repository, made when it is not there."""
    clone = folder / "clones" / f"{source.replace('/', '--')}.git"
    if not clone.exists():
        print(f"cloning {source}", flush=True)
        address = f"{GITHUB}{source}.git"
        done = subprocess.run(["git", "clone", "-q", "--bare", address, clone], check=False)
        if done.returncode:
            raise SystemExit(
                f"cannot clone {address}; with BENCH_QUERIES and BENCH_TREES nothing is cloned"
            )
    return clone


def export(clone: Path, commit: str, tree: Path) -> None:
    """Write a commit's tree, as a git repository of its own so that ignore rules apply."""
    tree.mkdir(parents=True)
    # unlike git archive, this leaves nothing out
    index = tree.resolve().with_suffix(".git-index")
    environment = {**os.environ, "GIT_INDEX_FILE": str(index)}
    subprocess.run(
        ["git", f"--git-dir={clone}", f"--work-tree={tree}", "checkout", "-qf", commit, "--", "."],
        env=environment,
        check=True,
    )
    index.unlink()
    subprocess.run(["git", "init", "-q", tree], check=True)


def _git(clone: Path, *words: str) -> str:
    done = subprocess.run(["git", f"--git-dir={clone}", *words], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")
