"""Whatever stops a run: the index stays whole, and nothing paid for is paid again."""

import os
import random
import re
import shutil
import signal
import time

import pytest

from askcode.errors import IndexUnusable
from tests.command_line import CommandLine, run_process, write
from tests.killing import (
    kill_after,
    start_index,
    stored_rows,
    wait_for_lock,
    wait_until,
)
from tests.scripted_server import Say, ScriptedServer

KILLS = 50
FILES = 120


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    return CommandLine(folder, capsys, monkeypatch)


def name_in(text):
    """Return the one made-up name in a text: it stands for one version of one file."""
    return re.search(r"unit_\d+_v\d+", text)[0]


def source(number, version):
    name = f"unit_{number}_v{version}"
    return (
        f'def {name}():\n    """Return the {name} of the day."""\n    return {number * version}\n'
    )


def answer(request):
    name = name_in(request.user)
    return Say(f"Q1: What does {name} return?\nA1: {name}.", pause_s=0.01)


class Repository:
    """Some hundred files that change while runs come and go."""

    def __init__(self, folder, chance):
        self.folder = folder
        self.chance = chance
        self.version = 0
        self.change(range(FILES))

    def change(self, numbers):
        self.version += 1
        write(self.folder, {f"unit{n}.py": source(n, self.version) for n in numbers})

    def change_some(self):
        numbers = self.chance.sample(range(FILES), 40)
        self.change(numbers[:30])
        for number in numbers[30:]:
            (self.folder / f"unit{number}.py").unlink(missing_ok=True)


def stored_versions(folder):
    """Return the names that the index holds, each file whole and of one version."""
    try:
        rows = stored_rows(folder)
    except (IndexUnusable, ValueError):
        return None
    assert len({row["path"] for row in rows}) == len(rows)
    assert all(len(row["questions"]) == 1 for row in rows)
    return {name_in(row["text"]) for row in rows}


def sample(rows):
    return [{key: value for key, value in row.items() if key != "_rowid"} for row in rows]


@pytest.mark.slow
def test_killed_at_any_moment_the_index_is_whole_and_nothing_is_paid_twice(askcode, tmp_path):
    chance = random.Random(7)
    repository = Repository(askcode.folder, chance)
    stored, asked_again, kills, committed = set(), [], 0, 0
    with ScriptedServer(answer) as server:
        while kills < KILLS:
            seen = len(server.requests)
            code = kill_after(
                askcode.folder, start_index(askcode.folder, server), chance.uniform(0, 0.7)
            )
            asked_again += [
                name for each in server.requests[seen:] if (name := name_in(each.user)) in stored
            ]
            found = askcode("search", "what is returned", "--json")
            assert found.code in ((0,) if committed else (0, 3))
            assert "Traceback" not in found.err
            now = stored_versions(askcode.folder)
            committed = committed or bool(now)
            stored |= now or set()
            if code == 0:
                repository.change_some()
            else:
                kills += 1
        seen = len(server.requests)
        last = run_process(
            "index",
            "--yes",
            "--json",
            cwd=askcode.folder,
            env={"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"},
        )
        asked_again += [
            name for each in server.requests[seen:] if (name := name_in(each.user)) in stored
        ]
        fresh = tmp_path / "fresh"
        shutil.copytree(askcode.folder, fresh, ignore=shutil.ignore_patterns(".askcode"))
        with ScriptedServer(answer) as other:
            start_index(fresh, other).communicate(timeout=120)

    assert last.code == 0
    assert asked_again == []
    assert sample(stored_rows(askcode.folder)) == sample(stored_rows(fresh))
    assert len(list((askcode.folder / ".askcode").glob("*.lance"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("moment_s", [0.0, 0.03, 0.06, 0.1, 0.2, 0.4])
def test_a_killed_rebuild_leaves_the_old_index_and_no_litter(askcode, moment_s):
    Repository(askcode.folder, random.Random(1))
    askcode("index")
    before = stored_rows(askcode.folder)

    code = kill_after(askcode.folder, start_index(askcode.folder, None, "--rebuild"), moment_s)
    found = askcode("search", "unit_5_v1", "--json").json
    kept = stored_rows(askcode.folder)
    askcode("index")

    assert code in (-signal.SIGKILL, 0)
    assert found["hits"][0]["path"] == "unit5.py"
    assert sample(kept) == sample(before)
    assert len(list((askcode.folder / ".askcode").glob("*.lance"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_embedding_stops_within_two_seconds(askcode, number, code):
    body = "\n".join(f"    value_{i} = compute_{i}(value_{i - 1})" for i in range(60))
    write(askcode.folder, {f"f{i}.py": f"def f{i}():\n{body}\n" for i in range(2000)})
    process = start_index(askcode.folder)
    wait_for_lock(askcode.folder, process)
    wait_until(lambda: any((askcode.folder / ".askcode").glob("*.lance/data/*")))

    started = time.monotonic()
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    took_s = time.monotonic() - started

    assert process.returncode == code
    assert took_s < 2
    assert "Traceback" not in error
    kept = int(re.search(r"(\d+) of 2000 files are indexed", error)[1])
    assert kept == len({row["path"] for row in stored_rows(askcode.folder)})
    assert "run again to continue" in error


@pytest.mark.slow
def test_a_second_run_ends_at_once_and_readers_go_on(askcode):
    write(askcode.folder, {f"f{i}.py": f"def first_{i}():\n    return {i}\n" for i in range(5)})
    askcode("index")
    write(askcode.folder, {f"g{i}.py": f"def later_{i}():\n    return {i}\n" for i in range(5)})
    with ScriptedServer("hang") as server:
        process = start_index(askcode.folder, server)
        wait_for_lock(askcode.folder, process)
        second = askcode("index")
        found = askcode("search", "first_3", "--json")
        asked = askcode("ask", "what does first_3 return?", "--no-llm", "--json")
        status = askcode("status", "--json")
        process.kill()
        process.communicate(timeout=30)

    assert second.code == 6
    assert f"(pid {process.pid})" in second.err
    assert found.json["hits"][0]["path"] == "f3.py"
    assert asked.json["sources"][0] == "f3.py"
    assert status.json["freshness"]["new"] == 5


@pytest.mark.slow
def test_the_lock_of_a_dead_run_blocks_nobody(askcode):
    write(askcode.folder, {"a.py": "def a():\n    return 1\n"})
    with ScriptedServer("hang") as server:
        kill_after(askcode.folder, start_index(askcode.folder, server), 0.2)

    assert (askcode.folder / ".askcode" / "lock.pid").exists()
    assert askcode("index").code == 0


@pytest.mark.slow
def test_searches_during_a_run_see_whole_files(askcode):
    write(askcode.folder, {f"f{i}.py": source(i, 1) for i in range(40)})
    askcode("index")
    for version in (2, 3):
        write(askcode.folder, {f"f{i}.py": source(i, version) for i in range(40)})
        process = start_index(askcode.folder)
        while process.poll() is None:
            found = askcode("search", "unit_7", "--json", "--top-k", "40")
            names = [(hit["path"], hit["start_line"]) for hit in found.json["hits"]]
            assert found.code == 0
            assert len(names) == len(set(names))
        process.communicate()

        assert process.returncode == 0


SLOW_GIT = """#!/bin/sh
touch "$GIT_WAS_ASKED"
sleep 30
"""


def test_a_signal_before_the_files_are_compared_says_that_nothing_changed(
    askcode, tmp_path, monkeypatch
):
    asked, tools = tmp_path / "asked", tmp_path / "tools"
    write(tools, {"git": SLOW_GIT})
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_WAS_ASKED", str(asked))
    process = start_index(askcode.folder)
    wait_until(asked.exists)

    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=30)

    assert process.returncode == 143
    assert "terminated; nothing was changed" in error
