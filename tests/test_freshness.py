"""What changed since the index was made is told, and never cited as if it had not."""

import json
import subprocess

import numpy as np
import pytest

from tests.command_line import CommandLine, run_process, write
from tests.scripted_server import GOOD, Say, ScriptedServer
from tests.tiny_onnx import SPECIAL, write_embedding_model

FILES = {
    "kept.py": "def kept_number():\n    return 1\n",
    "changed.py": "def changed_number():\n    return 2\n",
    "gone.py": "def gone_number():\n    return 3\n",
    "old.py": "def moved_number():\n    return 4\n",
}


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, FILES)
    return CommandLine(folder, capsys, monkeypatch)


@pytest.fixture
def altered(askcode):
    """An index whose files changed, went and moved since."""
    askcode("index")
    write(askcode.folder, {"changed.py": "# one more line\n" + FILES["changed.py"]})
    (askcode.folder / "gone.py").unlink()
    (askcode.folder / "old.py").rename(askcode.folder / "new.py")
    return askcode


def asking(folder, server):
    """Return the command in a process of its own, whose language model is the server."""
    endpoint = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
    return lambda *arguments: run_process(*arguments, cwd=folder, env=endpoint)


STALE = {"changed.py", "gone.py", "old.py"}


def test_search_marks_what_changed_and_what_is_gone(altered):
    found = altered("search", "number", "--json")
    shown = altered("search", "number").out.splitlines()

    assert set(found.json["stale"]) == STALE
    marks = {path: next(line for line in shown if path in line) for path in FILES}
    assert "[changed since indexed]" in marks["changed.py"]
    assert "[deleted]" in marks["gone.py"]
    assert "[deleted]" in marks["old.py"]
    assert "[" not in marks["kept.py"].partition("kept.py")[2]


@pytest.mark.parametrize("question", ["gone_number", "moved_number"])
def test_ask_never_gives_a_deleted_file_as_source(altered, question):
    asked = altered("ask", question, "--no-llm", "--json").json
    shown = altered("ask", question, "--no-llm").out

    assert STALE & set(asked["sources"]) <= {"changed.py"}
    sources = shown.partition("Sources:")[2]
    assert "gone.py" not in sources
    assert "old.py" not in sources


@pytest.mark.slow
def test_an_answer_that_cites_a_deleted_file_is_not_valid(altered):
    reply = "It returns 3 [gone.py:1-2], and the other one 1 [kept.py:1-2]."
    with ScriptedServer(lambda request: Say(reply)) as server:
        run = asking(altered.folder, server)
        asked = run("ask", "what do gone_number and kept_number return?", "--json")
        strict = run("ask", "what do gone_number and kept_number return?", "--strict")

    valid = {citation["path"]: citation["valid"] for citation in asked.json["citations"]}
    assert valid == {"gone.py": False, "kept.py": True}
    assert "gone.py" in asked.json["stale"]
    assert "gone.py" not in asked.json["sources"]
    assert strict.code == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other_model", "code"), [(False, 0), (True, 3)], ids=["same model", "other model"]
)
def test_a_rebuild_that_ends_while_ask_waits_for_the_model(askcode, tmp_path, other_model, code):
    words = ("kept", "number")
    table = np.eye(len(SPECIAL) + len(words), dtype=np.float32)
    folder = write_embedding_model(tmp_path / "model", words, table)
    askcode("index")
    write(askcode.folder, {"kept.py": "def kept_number():\n    return 8\n"})
    rebuild = ["index", "--rebuild", "--no-llm", *["--embed-model", str(folder)] * other_model]

    def script(request):
        if "further questions" not in request.user:
            return Say("It returns 8 (`kept.py:2`).")
        assert run_process(*rebuild, cwd=askcode.folder).code == 0
        return Say("Where is the number?")

    with ScriptedServer(script) as server:
        run = asking(askcode.folder, server)
        asked = run("ask", "what does kept_number return?", "--json")

    assert asked.code == code, asked.err
    if other_model:
        assert "made anew meanwhile, with another embedding model" in asked.err
    else:
        assert asked.json["citations"][0]["valid"]
        assert asked.json["stale"] == []


def test_check_and_status_count_what_differs(altered):
    check, status = altered("index", "--check"), altered("status", "--json")

    assert check.code == 7
    assert "1 new, 1 changed, 2 deleted" in check.err
    assert status.json["freshness"] == {"new": 1, "changed": 1, "deleted": 2}
    assert status.json["files"] == 4


def test_a_touched_file_is_not_stale(askcode):
    askcode("index")
    (askcode.folder / "kept.py").touch()
    (askcode.folder / "changed.py").write_bytes(FILES["changed.py"].replace("\n", "\r\n").encode())

    assert askcode("index", "--check").code == 0
    assert askcode("search", "number", "--json").json["stale"] == []


@pytest.mark.slow
def test_branch_switches_and_renames_cost_no_call(askcode):
    git = ["git", "-C", str(askcode.folder), "-c", "user.name=t", "-c", "user.email=t@x.invalid"]

    def run(*arguments):
        subprocess.run([*git, *arguments], check=True, capture_output=True)

    run("init", "-qb", "one")
    run("add", ".")
    run("commit", "-qm", "One")
    with ScriptedServer(lambda request: Say(GOOD)) as server:
        index = asking(askcode.folder, server)
        index("index", "--yes")
        run("checkout", "-qb", "two")
        write(askcode.folder, {"changed.py": "def other_number():\n    return 5\n"})
        run("commit", "-qam", "Two")
        index("index", "--yes")
        paid = len(server.requests)
        reports = []
        for branch in ("one", "two", "one"):
            run("checkout", "-q", branch)
            reports.append(index("index", "--yes", "--json").json)
        (askcode.folder / "deep").mkdir()
        run("mv", "old.py", "deep/renamed.py")
        reports.append(index("index", "--yes", "--json").json)
        calls = len(server.requests) - paid

    assert paid == 5
    assert calls == 0
    assert [report["llm"]["calls"] for report in reports] == [0, 0, 0, 0]
    assert [report["files"]["indexed"] for report in reports] == [1, 1, 1, 1]
    assert reports[-1]["files"]["removed"] == 1
    found = askcode("search", "moved_number", "--json").json
    assert "old.py" not in json.dumps(found)
