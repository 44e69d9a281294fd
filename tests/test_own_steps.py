"""Steps of installed packages take part in indexing and asking, and say where they fail."""

import importlib
import json
import os
import subprocess
import sys
import textwrap

import pytest

from tests.command_line import PROJECT, CommandLine, run_process, write
from tests.scripted_server import GOOD, Say, ScriptedServer

EXAMPLE = PROJECT / "tests/fixtures/example_steps"
FILES = {
    "cart.py": "class Cart:\n    def total(self):\n        return 1  # SHOP-7\n",
    "mail.py": "def send(address):\n    return address\n",
    "recordings/one.py": "def recorded():\n    return 1\n",
}


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, FILES)
    return CommandLine(folder, capsys, monkeypatch)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what lays a package out as pip would, in a folder that Python looks in."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    modules = set()

    def lay_out(source, entry_points, *, name="demo-steps", version="1.0"):
        module = name.replace("-", "_")
        modules.add(module)
        forget(modules)
        for old in site.glob(f"{module}-*.dist-info/*"):
            old.unlink()
        for old in site.glob(f"{module}-*.dist-info"):
            old.rmdir()
        groups = "".join(
            f"[askcode.{group}]\n{step} = {module}:{target}\n"
            for group, step, target in entry_points
        )
        write(
            site,
            {
                f"{module}.py": textwrap.dedent(source),
                f"{module}-{version}.dist-info/METADATA": (
                    f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
                ),
                f"{module}-{version}.dist-info/entry_points.txt": groups,
            },
        )
        return site / f"{module}.py"

    yield lay_out
    forget(modules)


def forget(modules):
    for module in modules:
        sys.modules.pop(module, None)
    importlib.invalidate_caches()


TICKETS = ("metadata", "tickets", "tickets")
SAYS_XYZZY = "def tickets(chunk):\n    return 'xyzzy' if 'Cart' in chunk.text else None\n"


def found(askcode, word):
    hits = askcode("search", word, "--json", "--mode", "text").json["hits"]
    return [hit["path"] for hit in hits]


def changed(askcode):
    plan = askcode("index", "--dry-run", "--json").json
    return {file["path"]: file["reason"] for file in plan["files"] if file["decision"] == "index"}


@pytest.mark.slow
def test_the_example_package_works_once_it_is_installed(askcode, tmp_path):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet"]
    command += ["--no-build-isolation", "--target", str(site), str(EXAMPLE)]
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    environment = {"PYTHONPATH": f"{PROJECT}{os.pathsep}{site}"}

    def run(*arguments):
        return run_process(*arguments, cwd=askcode.folder, env=environment)

    indexed = run("index", "--json").json
    by_ticket = run("search", "rounding of value", "--json", "--mode", "text").json
    by_meaning = run("search", "VAT tax rounding", "--json", "--mode", "vector").json
    asked = run("ask", "`total` of the basket", "--no-llm", "--json").json
    shown = run("ask", "`total` of the basket", "--no-llm", "--explain")
    alone = run("ask", "`total` of the basket", "--no-llm", "--json", "--no-subquestions").json
    status = run("status", "--json").json
    text = run("status").out

    assert indexed["skipped"] == [{"path": "recordings/one.py", "reason": "recorded reply"}]
    assert [hit["path"] for hit in by_ticket["hits"]] == ["cart.py"]
    assert "Rounding" not in by_ticket["hits"][0]["text"]
    assert by_meaning["hits"][0]["path"] == "cart.py"
    assert asked["subquestions"] == ["Cart"]
    assert asked["hits"][0]["path"] == "cart.py"
    assert "  - Cart\n" in shown.err
    assert alone["subquestions"] == []
    assert [(step["group"], step["name"], step["target"]) for step in status["steps"]] == [
        ("askcode.files", "no_fixtures", "example_steps:why_left_out"),
        ("askcode.metadata", "tickets", "example_steps:tickets"),
        ("askcode.queries", "glossary", "example_steps:searches"),
    ]
    assert "metadata tickets (example-steps 1.0)" in text
    assert any(kind.startswith("tickets@1.0+") for kind in status["metadata"])


def test_what_a_step_says_is_found_by_word_without_being_in_the_text(askcode, install):
    install(SAYS_XYZZY, [TICKETS])

    askcode("index", "-q")

    assert found(askcode, "xyzzy") == ["cart.py"]
    assert changed(askcode) == {}


CHANGES = {
    "another version": {"source": SAYS_XYZZY, "version": "1.1"},
    "other code of the same version": {"source": SAYS_XYZZY.replace("xyzzy", "plugh")},
    "another name": {"source": SAYS_XYZZY, "entry_points": [("metadata", "other", "tickets")]},
    "no step any more": {"source": SAYS_XYZZY, "entry_points": []},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_files_are_described_anew_when_a_step_changed(askcode, install, change):
    install(SAYS_XYZZY, [TICKETS])
    askcode("index", "-q")

    install(**{"entry_points": [TICKETS], **change})
    before = changed(askcode)
    check = askcode("index", "--check")
    report = askcode("index", "--json").json

    assert before == dict.fromkeys(FILES, "own steps changed")
    assert check.code == 0
    assert report["files"]["indexed"] == 3
    assert changed(askcode) == {}
    expected = "plugh" if "plugh" in change["source"] else "xyzzy"
    assert found(askcode, expected) == ([] if change.get("entry_points") == [] else ["cart.py"])


def test_a_new_step_describes_what_was_indexed_before_it_came(askcode, install):
    askcode("index", "-q")
    install(SAYS_XYZZY, [TICKETS])

    assert changed(askcode) == dict.fromkeys(FILES, "metadata missing")
    askcode("index", "-q")
    assert found(askcode, "xyzzy") == ["cart.py"]


def test_a_changed_step_costs_no_call(askcode, install, monkeypatch):
    with ScriptedServer(lambda request: Say(GOOD)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        askcode("index", "-q", "--yes")
        paid = len(server.requests)
        install(SAYS_XYZZY, [TICKETS])
        report = askcode("index", "--json").json

        assert paid == 3
        assert len(server.requests) == paid
        assert report["files"]["indexed"] == 3


def test_a_metadata_step_that_fails_keeps_the_chunk_and_is_tried_again(askcode, install):
    source = """
        def tickets(chunk):
            if "Cart" in chunk.text:
                raise KeyError("SHOP-7")
            return "plugh"
    """
    file = install(source, [TICKETS])

    failed = askcode("index", "--json")
    (failure,) = failed.json["failed"]

    assert failed.code == 5
    assert failure["path"] == "cart.py"
    assert failure["error"] == (
        "the own step tickets (demo-steps 1.0) failed on cart.py:1-3: "
        f"KeyError: 'SHOP-7' ({file}:4)"
    )
    assert "own step tickets (demo-steps 1.0)" in failed.err
    assert found(askcode, "total") == ["cart.py"]
    assert set(found(askcode, "plugh")) == {"mail.py", "recordings/one.py"}
    assert changed(askcode) == {"cart.py": "metadata missing"}


def test_what_is_left_of_a_step_that_failed_in_part_goes_with_it(askcode, install):
    source = "\n".join(f"def number_{i}():\n    return {i}\n" * 8 for i in range(40))
    write(askcode.folder, {"many.py": source})
    install("def tickets(chunk):\n    return {1: 'xyzzy'}[chunk.start_line]\n", [TICKETS])
    assert askcode("index", "-q").code == 5
    assert found(askcode, "xyzzy")[0:1] != []

    install("", [])

    assert changed(askcode)["many.py"] == "own steps changed"
    assert askcode("index", "-q").code == 0
    assert found(askcode, "xyzzy") == []


BROKEN = {
    "files": ("index", "mail.py"),
    "queries": ("search", "the question"),
}


@pytest.mark.parametrize("group", BROKEN)
def test_a_failing_step_of_another_group_ends_the_command(askcode, install, group):
    askcode("index", "-q")
    file = install(
        "def step(value):\n    if 'mail' in value:\n        raise SystemExit(3)\n",
        [(group, "odd", "step")],
    )
    command, about = BROKEN[group]

    failed = askcode(command, "mail") if group == "queries" else askcode(command)

    assert failed.code == 2
    assert failed.out == ""
    assert f"the own step odd (demo-steps 1.0) failed on {about}: SystemExit: 3" in failed.err
    assert f"({file}:3)" in failed.err
    assert "hint: mend or uninstall demo-steps" in failed.err


@pytest.mark.parametrize("group", ["files", "metadata"])
def test_a_step_that_cannot_be_loaded_is_named_before_anything_is_done(askcode, install, group):
    install("import nowhere_to_be_found\n", [(group, "odd", "step")])

    failed = askcode("index")

    assert failed.code == 2
    assert "the own step odd (demo-steps 1.0) cannot be loaded from demo_steps:step" in failed.err
    assert "No module named 'nowhere_to_be_found'" in failed.err


def test_a_target_that_is_no_function_is_told(askcode, install):
    install("step = 3\n", [("queries", "odd", "step")])
    askcode("index", "-q")

    assert "demo_steps:step is of type int" in askcode("ask", "mail", "--no-llm").err


WRONG = {
    "files": ("7", "None to keep the file or a text", 2),
    "metadata": ("7", "a text or None", 5),
    "queries": ("7", "texts to search for; it returned a value of type int", 2),
}


@pytest.mark.parametrize("group", WRONG)
def test_a_result_of_another_type_is_told(askcode, install, group):
    value, wanted, code = WRONG[group]
    askcode("index", "-q")
    install(f"def step(value):\n    return {value}\n", [(group, "odd", "step")])

    failed = askcode("search", "mail") if group == "queries" else askcode("index")

    assert failed.code == code
    assert wanted in failed.err


KEPT = {
    "None": ("None", None),
    "True": ("True", None),
    "empty": ("''", None),
    "False": ("False", "own step"),
    "reason": ("'not\\n ours'", "not ours"),
}


@pytest.mark.parametrize(("said", "reason"), KEPT.values(), ids=KEPT)
def test_what_a_files_step_may_say(askcode, install, said, reason):
    install(
        f"def step(path):\n    return {said} if path == 'mail.py' else None\n",
        [("files", "odd", "step")],
    )

    skipped = askcode("index", "--json").json["skipped"]

    assert skipped == ([{"path": "mail.py", "reason": reason}] if reason else [])


def test_a_file_that_a_new_step_leaves_out_goes_from_the_index(askcode, install):
    askcode("index", "-q")
    install("def step(path):\n    return path == 'mail.py'\n", [("files", "odd", "step")])

    assert askcode("index", "--check").code == 7
    assert askcode("index", "--json").json["files"]["removed"] == 2
    assert askcode("status", "--json").json["files"] == 1


def test_searches_are_cleaned_and_each_is_run_once(askcode, install):
    source = """
        def step(question):
            print("spoken")
            yield from (question, " tax ", "", "tax", "\\x1b", "total")
    """
    install(source, [("queries", "odd", "step")])
    askcode("index", "-q")

    asked = askcode("ask", "mail", "--no-llm", "--json")

    assert json.loads(asked.out)["subquestions"] == ["tax", "total"]
    assert "spoken" in asked.err
