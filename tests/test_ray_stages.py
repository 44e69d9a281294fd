"""The stages of a run on a cluster, called as the cluster would call them."""

import threading
from dataclasses import replace
from functools import partial

import pytest

from askcode import errors
from askcode.adapters.ray_stages import (
    Chunking,
    Describing,
    Embedding,
    Partition,
    Recipe,
    packed,
    partitions,
    unpacked,
)
from askcode.chunking import Chunker
from askcode.describing import Budget
from askcode.errors import BudgetSpent, ChunkError, EmbedderError, RunError, TransientError
from askcode.records import FilePlan, Skipped
from askcode.scanning import ScanRules
from tests.command_line import write
from tests.fakes import HashEmbedder
from tests.test_describing import AnsweringModel, MemoryCache, describer, obedient

SOURCES = {f"u{n}.py": f"def unit_{n}():\n    return {n}\n" for n in range(12)}
PARTS = [tuple(SOURCES)[at : at + 4] for at in (0, 4, 8)]


def plan(path, size=10):
    return FilePlan(path, "index", "new", size, "python", "")


def stages(root, answer=obedient, *, cache=None, **options):
    """Return the three stages over one root, and the model that the middle one asks."""
    model = AnsweringModel(answer)
    cache = cache or MemoryCache()
    described = partial(describer, model, cache, **options)
    recipe = Recipe(
        root,
        make_rules=ScanRules,
        make_chunker=lambda: Chunker(count_tokens=HashEmbedder().count_tokens, max_tokens=200),
        make_describer=lambda: (described(), cache.spent),
        make_embedder=HashEmbedder,
    )
    return Chunking(recipe), Describing(recipe), Embedding(recipe), model


def go(made, paths):
    chunk, describe, embed, _ = made
    return unpacked(embed(describe(chunk(packed(Partition(tuple(paths)))))))


@pytest.fixture
def root(tmp_path):
    write(tmp_path, SOURCES)
    return tmp_path


def test_partitions_hold_a_few_files_each_in_order():
    files = [plan(f"f{n}.py") for n in range(70)]
    large = [plan("a", 300_000), plan("b", 300_000), plan("c", 900_000), plan("d", 1)]

    assert [len(part.paths) for part in partitions(files)] == [32, 32, 6]
    assert [path for part in partitions(files) for path in part.paths] == [f.path for f in files]
    assert [part.paths for part in partitions(large)] == [("a",), ("b",), ("c",), ("d",)]
    assert list(partitions([])) == []


def test_files_come_out_described_with_their_rows(root):
    (root / "empty.py").write_text("")

    done = go(stages(root), ["u1.py", "gone.py", "empty.py", "u2.py"])

    assert {file.file.path for file in done.described} == {"u1.py", "u2.py"}
    assert set(done.rows) == {"u1.py", "u2.py"}
    assert [row.chunk.text for row in done.rows["u1.py"]] == [SOURCES["u1.py"].rstrip("\n")]
    assert done.rows["u2.py"][0].description.questions[0].question == "What about def?"
    assert [(left.path, left.reason) for left in done.skipped] == [("empty.py", "empty")]
    assert (done.chunked, done.failure, done.transient) == ((), None, None)


def test_a_worker_without_the_folder_does_not_take_its_files_for_deleted_ones(tmp_path):
    done = go(stages(tmp_path / "elsewhere"), ["a.py"])

    assert str(done.failure).startswith(f"{tmp_path / 'elsewhere'} is not there on ")
    assert "share the folder" in done.failure.hint
    assert (done.described, done.rows) == ((), {})


def test_one_budget_holds_for_all_partitions(root):
    made = stages(root, budget=Budget(max_calls=6))

    done = [go(made, paths) for paths in PARTS]

    assert len(made[3].prompts) == 6
    assert [len(part.described) for part in done] == [4, 2, 0]
    assert [type(part.failure) for part in done] == [type(None), BudgetSpent, BudgetSpent]


def test_calls_that_fail_count_in_the_budget_of_all_partitions(root):
    made = stages(root, lambda prompt: ChunkError("refused"), budget=Budget(max_calls=6))

    done = [go(made, paths) for paths in PARTS]

    assert len(made[3].prompts) == 6
    assert isinstance(done[2].failure, BudgetSpent)


def test_a_worker_in_the_place_of_another_has_what_that_one_left_of_the_budget(root):
    cache = MemoryCache()
    for paths in PARTS[:2]:
        go(stages(root, cache=cache, budget=Budget(max_calls=6)), paths)

    assert cache.spent().calls == 6


def test_never_more_calls_at_once_than_are_allowed(root):
    pair = threading.Barrier(2, timeout=10)

    def together(prompt):
        pair.wait()
        return obedient(prompt)

    made = stages(root, together, concurrency=2)

    for paths in PARTS:
        go(made, paths)

    assert (made[3].most_at_once, len(made[3].prompts)) == (2, 12)


def test_nothing_is_begun_after_what_ends_the_run(root):
    made = stages(root, lambda prompt: RunError("bad key"), concurrency=1)

    done = [go(made, paths) for paths in PARTS]

    assert len(made[3].prompts) == 1
    assert [str(part.failure) for part in done] == ["bad key"] * 3
    assert [part.described for part in done] == [()] * 3


def test_calls_that_fail_for_now_are_told_apart_from_what_ends_the_run(root):
    made = stages(root, lambda prompt: TransientError("busy"))

    done = [go(made, paths) for paths in PARTS]

    assert [str(part.transient) for part in done] == ["busy"] * 3
    assert [part.failure for part in done] == [None] * 3
    assert sum(len(part.described) for part in done) == 12


class FailingEmbedder(HashEmbedder):
    def embed_passages(self, texts):
        raise EmbedderError("no model", hint="get one")


def test_files_that_cannot_be_embedded_are_not_done(root):
    chunk, describe, _, _ = made = stages(root)
    recipe = Recipe(root, ScanRules, None, None, FailingEmbedder)

    done = go((chunk, describe, Embedding(recipe), made[3]), ["u1.py"])

    assert (str(done.failure), done.failure.hint) == ("no model", "get one")
    assert (done.described, done.rows) == ((), {})


def test_a_worker_of_another_version_does_not_take_part(root):
    recipe = replace(Recipe(root, ScanRules, None, None, HashEmbedder), version="0.0.1")

    with pytest.raises(errors.AskcodeError, match=r"has askcode .*, and this run 0\.0\.1"):
        Embedding(recipe)


@pytest.mark.parametrize(
    "error", [BudgetSpent("b", hint="h"), RunError("r"), TransientError("t"), EmbedderError("e")]
)
def test_errors_and_odd_paths_pass_between_machines(error):
    path = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    partition = Partition((path,), skipped=(Skipped(path, "binary", ""),), failure=error)

    back = unpacked(packed(partition))

    assert (back.paths, back.skipped) == (partition.paths, partition.skipped)
    assert type(back.failure) is type(error)
    assert (back.failure.message, back.failure.hint) == (error.message, error.hint)
