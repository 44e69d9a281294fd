"""Run the command line as a user would, in this process or in one of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from askcode.cli import app
from askcode.cli.failing import run_guarded

PROJECT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class CommandLine:
    """Call commands in one folder and collect what they print."""

    def __init__(self, folder, capsys, monkeypatch):
        self.folder = folder
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments):
        self._monkeypatch.chdir(self.folder)
        self._capsys.readouterr()
        code = run_guarded(lambda: app(list(arguments), standalone_mode=False))
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)


def run_process(*arguments, cwd, env=None, stdin=None, timeout=120):
    """Run askcode in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "askcode", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def write(folder, files):
    """Write files, by path, below a folder."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            place.write_bytes(text)
        else:
            place.write_text(text, encoding="utf-8")
