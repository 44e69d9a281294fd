"""What the README shows works as it stands there."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.command_line import PROJECT, CommandLine, write
from tests.scripted_server import Say, ScriptedServer

README = (PROJECT / "README.md").read_text(encoding="utf-8")
SHOP = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        return self.net() * 1.2  # tax\n",
    "shop/prices.py": "def price_of(item):\n    return item.price\n",
    "shop/session.py": "def store_session(cookie):\n    return cookie\n",
}
HOLDS, FAILS = "It is in `shop/cart.py:1-3`.", "It is in `shop/cart.py:70-90`."


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def shown_commands():
    """Return each askcode command of the README, in blocks and in the text."""
    lines = [
        line[2:].split(" #")[0].strip()
        for block in blocks("console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    text = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    inline = [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)]
    return sorted({line for line in (*lines, *inline) if line.startswith("askcode ")})


def is_template(command):
    return re.search(r"[\[|]|\b[A-Z]{3,}\b|\.\.\.", command) is not None


@pytest.fixture
def environment(tmp_path):
    """Return the environment of a user who has askcode on the path and a shop at home."""
    home = tmp_path / "home"
    write(home / "src" / "shop", SHOP)
    tools = tmp_path / "bin"
    write(tools, {"askcode": f'#!/bin/sh\nexec "{sys.executable}" -m askcode "$@"\n'})
    (tools / "askcode").chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    path = f"{tools}:{os.environ['PATH']}"
    return {**kept, "HOME": str(home), "PATH": path, "PYTHONPATH": str(PROJECT)}


def shell(script, environment, cwd):
    """Run a script as a workflow does: the first command that fails ends it."""
    return subprocess.run(
        ["bash", "-e", "-c", script],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_readme_shows_commands():
    assert len(shown_commands()) >= 8


@pytest.mark.parametrize("command", shown_commands())
def test_every_option_that_the_readme_names_exists(command, tmp_path, capsys, monkeypatch):
    words = shlex.split(command)[1:]
    flags = [word for word in words if word.startswith("--")]
    names = [word for word in words if re.fullmatch(r"[a-z|]+", word)][:1]
    helps = CommandLine(tmp_path, capsys, monkeypatch)

    ran = helps(*names, "--help")

    assert ran.code == 0, ran.err
    assert all(re.search(rf"{flag}\b", ran.out) for flag in flags)


@pytest.mark.slow
def test_the_commands_of_the_readme_run(environment):
    shop = Path(environment["HOME"]) / "src" / "shop"
    first = shell("askcode index .", environment, shop)

    ran = {
        command: shell(command, environment, shop)
        for command in shown_commands()
        if not is_template(command)
    }

    assert first.returncode == 0
    assert {command: done.stderr for command, done in ran.items() if done.returncode} == {}


def steps():
    workflow = yaml.safe_load(blocks("yaml")[0])
    runs = [step["run"] for step in workflow["jobs"]["ask"]["steps"] if "run" in step]
    assert runs[0].startswith("pip install ")
    return runs[1:]


@pytest.mark.slow
def test_the_workflow_indexes_once_and_fails_on_a_citation_that_does_not_hold(
    environment, tmp_path
):
    summary = tmp_path / "summary.md"
    shop = Path(environment["HOME"]) / "src" / "shop"
    answers = [HOLDS, HOLDS, FAILS]
    index, ask = steps()

    def script(request):
        if "<<<excerpts " in request.user:
            return Say(answers.pop(0))
        return Say("" if "further questions" in request.user else "Q1: Where?\nA1: Here.\n")

    with ScriptedServer(script) as server:
        keys = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
        paid = {**environment, **keys, "GITHUB_STEP_SUMMARY": str(summary)}
        runs, calls = [], []
        for _ in range(3):
            indexed, counted = shell(index, paid, shop), len(server.requests)
            runs.append((indexed.returncode, shell(ask, paid, shop).returncode))
            calls.append(counted)

    assert runs == [(0, 0), (0, 0), (0, 7)]
    # a run of the index asks for three chunks, an answer takes two calls
    assert calls == [3, 5, 7]
    assert summary.read_text().count("1 of 1 citations verified") == 2
