"""The index on disk: what it was made with, damage, odd paths, no room, no permission."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.command_line import PROJECT, CommandLine, run_process, write
from tests.scripted_server import ScriptedServer

FILES = {
    "plain.py": "def plain_number():\n    return 1\n",
    "mail.py": "def send_receipt(address):\n    return smtp.send(address)\n",
}


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, FILES)
    return CommandLine(folder, capsys, monkeypatch)


def place_of(askcode):
    return askcode.folder / ".askcode"


def change_manifest(askcode, change):
    path = place_of(askcode) / "manifest.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def snapshot(place):
    """Return what the tables and the manifest hold, byte for byte."""
    return {
        path.relative_to(place): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file() and (".lance" in str(path) or path.name == "manifest.json")
    }


MISMATCHES = {
    "other files of the model": lambda data: data["embedder"].update(digest="0" * 32),
    "other model of the same size": lambda data: data["embedder"].update(name="other"),
    "other dimension": lambda data: data["embedder"].update(dim=3),
    "newer schema": lambda data: data.update(schema_version=99),
    "older schema": lambda data: data.update(schema_version=0),
    "other chunk size": lambda data: data.update(chunk_tokens=7),
    "other chunking": lambda data: data.update(chunking_version=-1),
    "other prompts": lambda data: data.update(prompts_digest="0" * 32),
}
SEARCHABLE = {"other chunk size", "other chunking", "other prompts"}


@pytest.mark.parametrize("kind", MISMATCHES)
def test_an_index_made_otherwise_is_refused_with_the_repair_and_kept(askcode, kind):
    askcode("index")
    change_manifest(askcode, MISMATCHES[kind])
    before = snapshot(place_of(askcode))

    refused = [askcode("index"), askcode("index", "--check"), askcode("index", "--dry-run")]
    searched = askcode("search", "plain_number")
    kept = snapshot(place_of(askcode))
    rebuilt = askcode("index", "--rebuild")

    assert [ran.code for ran in refused] == [3, 3, 3]
    assert all("askcode index --rebuild" in ran.err for ran in refused)
    assert searched.code == (0 if kind in SEARCHABLE else 3)
    assert kept == before
    assert rebuilt.code == 0
    assert askcode("search", "plain_number", "--json").json["hits"][0]["path"] == "plain.py"


def test_a_model_that_cannot_be_had_is_told_as_another_one(askcode):
    askcode("index")
    before = snapshot(place_of(askcode))
    other = ["--embed-model", "BAAI/bge-base-en-v1.5"]

    refused = [askcode("search", "x", *other), askcode("index", *other)]
    rebuilt = askcode("index", "--rebuild", *other)

    assert [ran.code for ran in refused] == [3, 3]
    assert all("configured is BAAI/bge-base-en-v1.5" in ran.err for ran in refused)
    assert all("askcode index --rebuild" in ran.err for ran in refused)
    assert rebuilt.code == 4
    assert snapshot(place_of(askcode)) == before
    assert askcode("search", "plain_number").code == 0


def manifests(place):
    for path in place.rglob("*.manifest"):
        path.unlink()


def data_cut(place):
    for path in place.rglob("data/*"):
        os.truncate(path, 100)


def data_gone(place):
    for path in place.rglob("data/*"):
        path.unlink()


def versions_cut(place):
    for path in place.rglob("*.manifest"):
        os.truncate(path, 10)


def words_gone(place):
    for path in place.glob("*.lance/_indices"):
        shutil.rmtree(path)


def table_gone(place):
    for path in place.glob("*.lance"):
        shutil.rmtree(path)


def no_manifest(place):
    (place / "manifest.json").unlink()


def garbage_manifest(place):
    (place / "manifest.json").write_bytes(b"\x00\xff{")


def empty_manifest(place):
    (place / "manifest.json").write_bytes(b"")


def manifest_of_another_kind(place):
    (place / "manifest.json").write_text('{"schema_version": 1, "table": 7}')


def manifest_that_names_a_place_outside(place):
    data = json.loads((place / "manifest.json").read_text())
    (place / "manifest.json").write_text(json.dumps({**data, "table": "../../else"}))


DAMAGES = [
    manifests,
    data_cut,
    data_gone,
    versions_cut,
    words_gone,
    table_gone,
    no_manifest,
    garbage_manifest,
    empty_manifest,
    manifest_of_another_kind,
    manifest_that_names_a_place_outside,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named_and_the_next_run_repairs_it(askcode, damage):
    askcode("index")
    damage(place_of(askcode))

    searched, asked = askcode("search", "plain_number"), askcode("ask", "plain_number", "--no-llm")
    status, checked = askcode("status"), askcode("index", "--check")
    looked = askcode("index", "--dry-run", "--json")
    repaired = askcode("index")
    found = askcode("search", "plain_number", "--json")

    assert (searched.code, asked.code, status.code, checked.code) == (3, 3, 3, 3)
    assert "damaged" in searched.err
    assert "askcode index" in searched.err
    assert looked.code == 0
    assert "it is made anew" in looked.err
    assert {file["decision"] for file in looked.json["files"]} == {"index"}
    assert repaired.code == 0
    assert found.json["hits"][0]["path"] == "plain.py"
    assert "Traceback" not in searched.err + asked.err + status.err + looked.err + repaired.err
    assert len(list(place_of(askcode).glob("*.lance"))) == 1


@pytest.mark.parametrize("content", [b"", b"garbage" * 1000])
def test_damaged_paid_replies_do_not_stop_a_run(askcode, content):
    askcode("index")
    (place_of(askcode) / "descriptions.sqlite").write_bytes(content)
    write(askcode.folder, {"new.py": "def new_number():\n    return 1\n"})

    indexed, found = askcode("index"), askcode("search", "new_number", "--json")

    assert indexed.code in (0, 1)
    assert "Traceback" not in indexed.err
    assert found.code == 0


def test_an_empty_index_is_told_before_a_call_is_paid(tmp_path):
    with ScriptedServer("ok") as server:
        endpoint = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
        run_process("index", cwd=tmp_path, env=endpoint)
        asked = run_process("ask", "what is this?", cwd=tmp_path, env=endpoint)

    assert asked.code == 3
    assert "the index is empty" in asked.err
    assert server.requests == []


def size_of(place):
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


@pytest.mark.slow
def test_thirty_runs_leave_no_more_than_twice_a_fresh_index(askcode, tmp_path):
    write(askcode.folder, {f"f{i}.py": f"def f{i}():\n    return 1\n" for i in range(50)})
    askcode("index")
    for number in range(30):
        write(askcode.folder, {"f1.py": f"def f1():\n    return {number}\n"})
        askcode("index", "-q")
    askcode("index", "--index-dir", str(tmp_path / "fresh"))

    assert size_of(place_of(askcode)) <= 2 * size_of(tmp_path / "fresh")


ODD = [
    b"it's dir/don't.py",
    b"' OR 1=1 --.py",
    b'd"q.py',
    b"100%_.py",
    b"%25.py",
    b"back\\slash.py",
    b"new\nline.py",
    b"tab\t.py",
    b"caf\xc3\xa9/x.py",
    b"caf\xe9.py",
    b"\xff\xfe.py",
    b"[id]/{a,b}*?.py",
    b"-dash.py",
    b" lead.py",
    "日本🙂.py".encode(),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_an_odd_path_is_stored_filtered_changed_and_deleted_exactly(askcode, name):
    path = os.fsdecode(name)
    write(askcode.folder, {path: "def odd_number():\n    return 1\n"})
    askcode("index")
    glob = "".join(f"[{char}]" if char in "*?[{" else char for char in path).replace("\\", "\\\\")

    found = run_process("search", "odd_number", "--json", cwd=askcode.folder).json
    only = askcode("search", "number", "--json", "--path-glob", glob).json
    write(askcode.folder, {path: "def even_number():\n    return 2\n"})
    changed = askcode("index", "--json").json
    (askcode.folder / path).unlink()
    removed = askcode("index", "--json").json
    after = askcode("search", "even_number odd_number", "--json").json

    assert found["hits"][0]["path"] == path
    assert {hit["path"] for hit in only["hits"]} == {path}
    assert changed["files"] == {"indexed": 1, "unchanged": 2, "removed": 0, "skipped": 0}
    assert removed["files"] == {"indexed": 0, "unchanged": 2, "removed": 1, "skipped": 0}
    assert {hit["path"] for hit in after["hits"]} <= set(FILES)


def can_mount():
    done = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False
    )
    return done.returncode == 0


needs_mount = pytest.mark.skipif(
    not shutil.which("unshare") or not can_mount(), reason="mounting is not allowed here"
)


def in_a_namespace(folder, script):
    """Run a shell script that may mount; $ASKCODE is the command."""
    command = f"{sys.executable} -m askcode"
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "ASKCODE": command},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.stderr


@needs_mount
@pytest.mark.slow
def test_a_full_disk_is_named_and_what_was_stored_stays(askcode):
    script = """
        mkdir -p .askcode && mount -t tmpfs -o size=400k tmpfs .askcode
        $ASKCODE index; echo "first $?"
        for i in $(seq 300); do
            printf 'def f%s():\\n    return "%0900d-$RANDOM$RANDOM"\\n' $i $i > f$i.py
        done
        $ASKCODE index; echo "full $?"
        $ASKCODE search plain_number --json > found.json; echo "search $?"
        mount -o remount,size=50m .askcode
        $ASKCODE index; echo "again $?"
    """
    out, err = in_a_namespace(askcode.folder, script)

    assert "first 0" in out
    assert "full 1" in out, out + err
    assert "no space left on device" in err
    assert "search 0" in out
    assert "again 0" in out
    assert "Traceback" not in err
    found = json.loads((askcode.folder / "found.json").read_text())
    assert found["hits"][0]["path"] == "plain.py"


@needs_mount
@pytest.mark.slow
def test_a_read_only_repository_can_be_asked_but_not_indexed(askcode):
    askcode("index")
    script = """
        mount --bind . . && cd "$PWD" && mount -o remount,ro,bind .
        $ASKCODE ask plain_number --no-llm; echo "ask $?"
        $ASKCODE search plain_number > /dev/null; echo "search $?"
        $ASKCODE status > /dev/null; echo "status $?"
        $ASKCODE index --check; echo "check $?"
        $ASKCODE index --dry-run > /dev/null; echo "dry $?"
        HOME=$PWD/none $ASKCODE ask plain_number --no-llm > /dev/null; echo "homeless $?"
        $ASKCODE index; echo "index $?"
        $ASKCODE index --index-dir "$ELSE"; echo "else $?"
    """
    place = askcode.folder.parent / "elsewhere"

    out, err = in_a_namespace(askcode.folder, f"ELSE='{place}'\n{script}")

    codes = dict(re.findall(r"^([a-z]+) (\d+)$", out, re.MULTILINE))
    assert codes == CODES, out + err
    assert "--index-dir" in err
    assert "Traceback" not in err


CODES = {
    "ask": "0",
    "search": "0",
    "status": "0",
    "check": "0",
    "dry": "0",
    "homeless": "0",
    "index": "2",
    "else": "0",
}


def test_a_run_writes_nothing_into_the_home_directory(askcode, tmp_path):
    home = tmp_path / "home"
    home.mkdir()

    indexed = run_process("index", cwd=askcode.folder, env={"HOME": str(home)})

    assert indexed.code == 0
    assert list(home.iterdir()) == []


def test_a_file_in_the_place_of_the_index_is_wrong_use(askcode):
    place_of(askcode).write_text("mine\n")

    indexed = askcode("index")

    assert indexed.code == 2
    assert "--index-dir" in indexed.err
    assert place_of(askcode).read_text() == "mine\n"


@pytest.mark.slow
def test_memory_is_bounded_by_batches(askcode):
    body = "\n".join(f"    total += weights[{i}] * inputs[{i}]" for i in range(36))
    for number in range(5000):
        path = f"p{number % 50}/m{number}.py"
        write(askcode.folder, {path: f"def f{number}(total):\n{body}\n    return {number}\n"})
    script = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run([sys.executable, '-m', 'askcode', 'index', '-q']).returncode\n"
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=askcode.folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )

    code, peak_kb = map(int, done.stdout.split())
    assert code == 0
    assert peak_kb < 1_000_000


def test_a_link_in_the_place_of_the_index_is_not_written_through(askcode, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    (askcode.folder / ".askcode").symlink_to(target)

    refused = askcode("index")
    named = askcode("index", "--index-dir", str(target))

    assert refused.code == 2
    assert "--index-dir" in refused.err
    assert named.code == 0
    assert askcode("search", "plain_number", "--index-dir", str(target)).code == 0
