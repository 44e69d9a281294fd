"""One index of several repositories, used from the command line."""

import json
import re

import pytest

from tests.command_line import CommandLine, write
from tests.scripted_server import Say, ScriptedServer

TREES = {
    "a/shop": {"cart.py": "def total(cart):\n    return sum(cart) * TAX\n"},
    "b/shop": {
        "cart.py": "def total(cart):\n    return sum(cart)\n",
        "tests/test_cart.py": "def test_total():\n    assert total([1]) == 1\n",
    },
    "tools": {
        "release.py": "def release(version):\n    push(version)\n",
        "gen.py": "def made():\n    return 1\n",
        "askcode.toml": 'exclude = ["gen.py"]\n',
    },
}


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    for folder, files in TREES.items():
        write(tmp_path / folder, files)
    monkeypatch.setenv("ASKCODE_INDEX_DIR", str(tmp_path / "index"))
    return CommandLine(tmp_path, capsys, monkeypatch)


def paths(found):
    return [hit["path"] for hit in found.json["hits"]]


def index_all(askcode, *arguments):
    return askcode("index", *TREES, "--json", *arguments)


def test_paths_carry_their_repository_and_rules_are_each_ones_own(askcode):
    made = index_all(askcode)
    found = askcode("search", "total", "--json")
    shown = askcode("search", "total")

    assert made.json["files"] == {"indexed": 5, "unchanged": 0, "removed": 0, "skipped": 1}
    assert made.json["skipped"] == [{"path": "tools:gen.py", "reason": "excluded"}]
    assert {"shop:cart.py", "b-shop:cart.py", "b-shop:tests/test_cart.py"} <= set(paths(found))
    assert re.search(r"^shop:cart\.py:1-2 ", shown.out, re.MULTILINE)


def test_filters_apply_to_names_and_to_paths_below_the_roots(askcode):
    index_all(askcode)

    by_name = askcode("search", "total", "--repo", "*-shop", "--json")
    not_by_name = askcode("search", "total", "--repo", "!*shop", "--json")
    by_path = askcode("search", "total", "--path-glob", "/cart.py", "--json")
    both = askcode("search", "total", "--repo", "b-shop", "--path-glob", "tests/", "--json")
    traced = askcode("search", 'File "/srv/shop/cart.py", line 2', "--repo", "shop", "--json")
    unknown = askcode("search", "total", "--repo", "nope")

    assert set(paths(by_name)) == {"b-shop:cart.py", "b-shop:tests/test_cart.py"}
    assert set(paths(not_by_name)) <= {"tools:release.py", "tools:askcode.toml"}
    assert set(paths(by_path)) == {"shop:cart.py", "b-shop:cart.py"}
    assert paths(both) == ["b-shop:tests/test_cart.py"]
    assert paths(traced)[0] == "shop:cart.py"
    assert unknown.code == 2
    assert "there are b-shop, shop, tools" in unknown.err


def test_freshness_looks_into_each_root(askcode):
    index_all(askcode)
    write(askcode.folder, {"b/shop/cart.py": "def total(cart):\n    return 0\n"})
    (askcode.folder / "tools" / "release.py").unlink()

    checked = askcode("index", "--check")
    found = askcode("search", "total", "--json")
    status = askcode("status", "--json").json
    made = askcode("index", "--json")

    assert checked.code == 7
    assert "1 changed, 1 deleted" in checked.err
    assert found.json["stale"] == ["b-shop:cart.py"]
    assert status["freshness"] == {"new": 0, "changed": 1, "deleted": 1}
    assert [(each["name"], each["files"], each["stale"]) for each in status["repositories"]] == [
        ("b-shop", 2, 1),
        ("shop", 1, 0),
        ("tools", 2, 1),
    ]
    assert made.json["files"] == {"indexed": 1, "unchanged": 3, "removed": 1, "skipped": 1}
    assert askcode("index", "--check").code == 0


def test_a_run_for_one_repository_leaves_the_others_alone(askcode):
    index_all(askcode)
    write(askcode.folder, {"tools/more.py": "def more():\n    return 1\n"})

    one = askcode("index", "a/shop", "--json")
    checked = askcode("index", "a/shop", "--check")
    another = askcode("index", "--json")

    assert one.json["files"] == {"indexed": 0, "unchanged": 1, "removed": 0, "skipped": 0}
    assert checked.code == 0
    assert another.json["files"]["indexed"] == 1


def test_an_evaluation_names_the_files_with_their_repository(askcode):
    index_all(askcode)
    rows = [
        {"question": "release a version", "paths": ["tools:release.py"]},
        {"question": "total of the cart", "paths": ["release.py"]},
    ]
    file = askcode.folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))

    run = askcode("eval", str(file), "--json")

    assert [row["recall"] for row in run.json["rows"]] == [1.0, 0.0]


def test_removing_a_repository_is_one_command(askcode):
    index_all(askcode)

    removed = askcode("remove", "b-shop")
    again = askcode("remove", "b-shop")
    found = askcode("search", "total", "--json")
    rebuilt = askcode("index", "--rebuild", "--json")

    assert (removed.code, removed.out) == (0, "b-shop removed: 2 files, 2 chunks\n")
    assert again.code == 2
    assert not [path for path in paths(found) if path.startswith("b-shop:")]
    assert rebuilt.json["files"]["indexed"] == 3


def test_a_rebuild_of_one_keeps_the_others(askcode):
    index_all(askcode)

    rebuilt = askcode("index", "tools", "--rebuild", "--json")

    assert rebuilt.json["chunks"]["total"] == 5


def test_other_chunk_sizes_cut_the_files_of_that_repository_anew(askcode):
    index_all(askcode)
    write(askcode.folder, {"tools/askcode.toml": "chunk_tokens = 40\n"})

    made = askcode("index", "--json")

    assert made.json["files"] == {"indexed": 3, "unchanged": 3, "removed": 0, "skipped": 0}
    assert askcode("index", "--check").code == 0


def test_a_list_of_repositories_names_them(askcode):
    write(askcode.folder, {"list": "one=a/shop\ntools\n"})

    made = askcode("index", "--repos", "list", "--json")
    found = askcode("search", "total", "--json")

    assert made.json["files"]["indexed"] == 3
    assert paths(found)[0] == "one:cart.py"


def test_an_index_of_one_code_base_is_not_mixed_with_several(askcode, monkeypatch):
    one = askcode("index", "a/shop", "--index-dir", "one")
    mixed = askcode("index", "a/shop", "tools", "--index-dir", "one")
    filtered = askcode("search", "total", "--repo", "shop", "--index-dir", "one")
    found = askcode("search", "total", "--index-dir", "one", "-C", "a/shop", "--json")
    monkeypatch.delenv("ASKCODE_INDEX_DIR")
    nowhere = askcode("index", "a/shop", "tools")

    assert [one.code, mixed.code, filtered.code, nowhere.code] == [0, 2, 2, 2]
    assert paths(found) == ["cart.py"]
    assert found.json["stale"] == []
    assert "name one with --index-dir DIR" in nowhere.err


def test_calls_are_limited_over_all_repositories_and_none_is_made_twice(askcode, monkeypatch):
    with ScriptedServer(lambda request: Say("Q1: What is it?\nA1: It.")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        planned = index_all(askcode, "--dry-run").json["llm"]["calls"]
        stopped = index_all(askcode, "--max-calls", "2")
        made_first = len(server.requests)
        finished = askcode("index", "--json")
        made = len(server.requests)
        again = askcode("index", "--rebuild", "--json")
        made_again = len(server.requests)

    assert (stopped.code, made_first) == (5, 2)
    assert (finished.code, made, made_again) == (0, planned, planned)
    assert finished.json["files"]["indexed"] == 5 - stopped.json["files"]["indexed"]
    assert again.json["files"]["indexed"] == 5


ANSWERS = {
    "in full": ("It is added in shop:cart.py:1-2.", [("shop:cart.py", True)]),
    "like a folder": ("It is added in `shop/cart.py:1-2`.", [("shop:cart.py", True)]),
    "of a repository that is none": (
        "It is added in store:cart.py:1-2.",
        [("store:cart.py", False)],
    ),
    "without the name, in one only": (
        "See `tests/test_cart.py:1-2`.",
        [("b-shop:tests/test_cart.py", True)],
    ),
    "without the name, in two": ("See cart.py:1-2.", [("cart.py", False)]),
    "both": (
        "See b-shop:cart.py:1-2 and shop:cart.py#L2.",
        [("b-shop:cart.py", True), ("shop:cart.py", True)],
    ),
}


@pytest.mark.parametrize("form", ANSWERS)
def test_citations_are_checked_with_their_repository(askcode, monkeypatch, form):
    text, expected = ANSWERS[form]
    index_all(askcode)
    with ScriptedServer(lambda request: Say(text)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        asked = askcode("ask", "where does total sum the cart?", "--no-subquestions", "--json")
        prompt = server.requests[-1].user

    assert [(each["path"], each["valid"]) for each in asked.json["citations"]] == expected
    assert "shop:cart.py" in prompt
    assert "b-shop:cart.py" in asked.json["sources"]
