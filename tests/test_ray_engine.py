"""Ray does the work of a run: the index is the one that this process alone would make."""

import json
import os
import re
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.bucket_server import BUCKET, CREDENTIALS, bucket_server
from tests.command_line import PROJECT, run_process, write
from tests.killing import start_index, stored_rows, wait_until
from tests.ray_head import JOINING, ray_head, wait_for_end
from tests.scripted_server import Say, ScriptedServer

slow = pytest.mark.slow

FILES = 70
# a stranger's files: as modules, they would be run in the place of the packages of that name
TRAPS = {f"{name}.py": "raise SystemExit('run')\n" for name in ("numpy", "pandas", "jinja2")}
# without this, Python itself would import them: `python -m` imports from where it is started
SAFE = {"PYTHONSAFEPATH": "1"}


def source(number):
    body = "\n".join(f"    step_{number}_{i} = compute(step_{number}_{i - 1})" for i in range(40))
    return (
        f'def unit_{number}():\n    """Return unit {number} of the day."""\n{body}\n'
        f"\n\nclass Unit{number}:\n    value = {number}\n"
    )


def answer(request):
    found = re.search(r"unit_\d+|Unit\d+|step_\d+_\d+|coffee", request.user)
    name = found[0] if found else "it"
    return Say(f"Q1: What is {name}?\nA1: {name}.", pause_s=0.01)


class Busy:
    """Answer while counting the calls that are under way at once."""

    def __init__(self):
        self.lock = threading.Lock()
        self.at_once = self.most = 0

    def __call__(self, request):
        with self.lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        time.sleep(0.02)
        with self.lock:
            self.at_once -= 1
        return answer(request)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The files, and what the local engine makes of them."""
    folder = tmp_path_factory.mktemp("original") / "repository"
    write(folder, {f"unit{n}.py": source(n) for n in range(FILES)} | TRAPS)
    write(folder, {"README.md": "# Units\n\nA unit of each day.\n", "empty.py": ""})
    (folder / os.fsdecode(b"caf\xe9.py")).write_text("def coffee():\n    return 1\n")
    with ScriptedServer(answer) as server:
        ran = run_process("index", "--yes", "--json", cwd=folder, env=endpoint(server))
        assert ran.code == 0, ran.err
        return folder, ran, sorted(map(asked_by, server.requests))


@pytest.fixture
def folder(original, tmp_path):
    copied = tmp_path / "repository"
    shutil.copytree(original[0], copied, ignore=shutil.ignore_patterns(".askcode"))
    return copied


@pytest.fixture(scope="module")
def head():
    pytest.importorskip("ray")
    with ray_head() as head:
        yield head


@pytest.fixture
def joining(head):
    """The options and the environment of a run on the cluster."""
    return ("--engine", "ray", "--ray-address", head.address), JOINING | SAFE


@pytest.fixture
def own_ray():
    """The environment of a run that starts Ray, and all that it may leave behind."""
    pytest.importorskip("ray")
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        yield SAFE | {"TMPDIR": temporary, "RAY_worker_niceness": "0"}
        wait_for_end(temporary)
        assert list(Path(temporary).iterdir()) == []


def endpoint(server):
    return SAFE | {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}


def asked_by(request):
    """Return a prompt without the mark around its source, which is drawn anew each time."""
    return re.sub(r"\b[0-9a-f]{16}\b", "", request.user)


def rows_of(folder):
    return [
        {key: value for key, value in row.items() if key != "_rowid"} for row in stored_rows(folder)
    ]


def paths_in(folder):
    return {row["path"] for row in stored_rows(folder)}


def told(ran):
    """Return what a run told, but for how far it was after 10 s, its time, and its estimate.

    The marks around sources, drawn anew each time, are not always of as many tokens.
    """
    lines = [line for line in ran.err.splitlines() if not re.match(r"\d+/\d+ files", line)]
    return re.sub(r"done in [\d.]+ s|[\d,]+ input", "", "\n".join(lines))


@slow
def test_the_index_and_all_that_is_told_are_those_of_the_local_engine(original, folder, own_ray):
    _, local, asked = original
    with ScriptedServer(answer) as server:
        environment = endpoint(server) | own_ray
        far = run_process(
            "index", "--yes", "--json", "--engine", "ray", cwd=folder, env=environment
        )
        asked_far = sorted(map(asked_by, server.requests))

    assert far.code == 0, far.err
    assert rows_of(folder) == rows_of(original[0])
    assert asked_far == asked
    assert {**far.json, "seconds": 0} == {**local.json, "seconds": 0}
    assert told(far) == told(local)


@slow
def test_after_each_stop_the_next_run_goes_on_and_a_killed_worker_changes_nothing(
    original, folder, head, joining
):
    options, environment = joining
    options = (*options, "--json", "--yes", "--concurrency", "3")
    busy = Busy()
    with ScriptedServer(busy) as server:
        environment |= endpoint(server)
        spent = run_process("index", *options, "--max-calls", "50", cwd=folder, env=environment)
        asked = len(server.requests)
    stored = paths_in(folder)
    with ScriptedServer(busy) as server:
        process = start_index(folder, server, *options, environment=environment)
        wait_until(lambda: len(server.requests) > 10)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    kept = paths_in(folder)
    with ScriptedServer(busy) as server:
        last = start_index(folder, server, *options, environment=environment)
        wait_until(lambda: len(server.requests) > 20)
        killed = [os.kill(pid, signal.SIGKILL) for pid in head.workers("Describing")]
        killed += [os.kill(pid, signal.SIGKILL) for pid in head.workers("Embedding")]
        report, told_last = last.communicate(timeout=120)

    assert (spent.code, asked, busy.most) == (5, 50, 3)
    assert "stopped at --max-calls 50" in spent.err
    assert spent.json["llm"]["calls"] == 50
    assert 0 < spent.json["files"]["indexed"] == len(stored) < FILES
    assert (process.returncode, out) == (130, "")
    assert error.splitlines()[-2:] == [
        f"askcode: interrupted; {len(kept)} of {FILES + 5} files are indexed",
        "  hint: run again to continue",
    ]
    assert stored <= kept
    assert len(killed) >= 2
    assert last.returncode == 0, told_last
    assert json.loads(report)["files"]["unchanged"] == len(kept)
    assert rows_of(folder) == rows_of(original[0])


@slow
def test_a_signal_while_ray_starts_is_answered_as_at_any_time(folder, own_ray):
    process = start_index(folder, None, "--no-llm", "--engine", "ray", environment=own_ray)
    started = Path(own_ray["TMPDIR"])
    wait_until(lambda: list(started.glob("askcode-ray-*/session_*/sockets")))
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=60)

    assert (process.returncode, out) == (143, "")
    assert error.splitlines()[-2:] == [
        f"askcode: terminated; 0 of {FILES + 5} files are indexed",
        "  hint: run again to continue",
    ]


@slow
def test_several_repositories_go_to_one_bucket(tmp_path, joining):
    options, environment = joining
    write(tmp_path / "shop", {"cart.py": "def total(cart):\n    return sum(cart)\n"} | TRAPS)
    write(tmp_path / "tools", {"cart.py": "def total(cart):\n    return 1\n", "empty.py": ""})
    at = {"cwd": tmp_path, "env": environment | {"ASKCODE_CACHE": str(tmp_path / "cache")}}
    command = ("index", "shop", "tools", "--no-llm", "--json")
    local = run_process(*command, "--index-dir", "here", **at)
    with bucket_server() as url:
        at["env"] |= CREDENTIALS | {"AWS_ENDPOINT_URL": url}
        there = ("--index-dir", f"s3://{BUCKET}/far")
        far = run_process(*command, *there, *options, **at)
        found = run_process("search", "total", *there, "--json", **at)

    assert (local.code, far.code, found.code) == (0, 0, 0), far.err
    assert {**far.json, "seconds": 0} == {**local.json, "seconds": 0}
    assert far.json["files"] == {"indexed": 5, "unchanged": 0, "removed": 0, "skipped": 1}
    assert {hit["path"] for hit in found.json["hits"][:2]} == {"shop:cart.py", "tools:cart.py"}


@slow
def test_an_address_that_cannot_be_joined_is_named(tmp_path, head):
    write(tmp_path, {"a.py": "def a():\n    return 1\n"})
    told = {}

    for address in ("127.0.0.1:1", "ray://127.0.0.1:1", head.address):
        options = ("--engine", "ray", "--ray-address", address)
        ran = run_process("index", *options, cwd=tmp_path, env=SAFE)
        assert (ran.code, ran.out) == (2, "")
        told[address] = ran.err.splitlines()[-2:]

    assert told["127.0.0.1:1"] == [
        "askcode: no Ray cluster answers at 127.0.0.1:1: [Errno 111] Connection refused",
        "  hint: start one: ray start --head",
    ]
    assert told["ray://127.0.0.1:1"][0] == (
        "askcode: a Ray client address cannot be used: ray://127.0.0.1:1"
    )
    assert told[head.address][0] == f"askcode: the Ray cluster at {head.address} asks for its token"


def test_an_address_needs_the_engine(tmp_path):
    ran = run_process("index", "--ray-address", "auto", cwd=tmp_path)

    assert (ran.code, ran.out) == (2, "")
    assert "--ray-address is for the engine ray" in ran.err


def test_without_the_extra_package_the_engine_says_how_to_get_it(tmp_path):
    write(tmp_path / "path", {"ray.py": "raise ModuleNotFoundError(\"No module named 'ray'\")\n"})
    write(tmp_path / "repository", {"a.py": "def a():\n    return 1\n"})
    environment = {"PYTHONPATH": f"{tmp_path / 'path'}{os.pathsep}{PROJECT}"}

    ran = run_process("index", "--engine", "ray", cwd=tmp_path / "repository", env=environment)

    assert (ran.code, ran.out) == (2, "")
    assert "the engine ray needs an extra package: No module named 'ray'" in ran.err
    assert 'pip install "askcode[ray]"' in ran.err
    assert not (tmp_path / "repository" / ".askcode").exists()
