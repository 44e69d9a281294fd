"""The commands from outside: what they print, where, and with which exit code."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.command_line import PROJECT, CommandLine, run_process, write
from tests.scripted_server import ScriptedServer

SHOP = {
    "shop/cart.py": (
        "class Cart:\n"
        '    """Things a customer wants to buy."""\n'
        "\n"
        "    def total(self):\n"
        '        """Add up the prices, with tax."""\n'
        "        return sum(item.price for item in self.items) * 1.2\n"
    ),
    "shop/mail.py": "def send_receipt(address):\n    return smtp.send(address)\n",
    "README.md": "# Shop\n\nA shop.\n\n## Install\n\nRun `make install`.\n",
}


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, SHOP)
    return CommandLine(folder, capsys, monkeypatch)


def test_index_then_search_finds_the_right_lines(askcode):
    indexed = askcode("index")
    found = askcode("search", "how are prices added up with tax", "--json").json

    assert indexed.code == 0
    assert found["version"] == 1
    assert found["stale"] == []
    first = found["hits"][0]
    assert (first["rank"], first["path"], first["language"]) == (1, "shop/cart.py", "python")
    assert first["start_line"] == 1
    assert first["end_line"] == 6
    assert first["text"] == SHOP["shop/cart.py"].rstrip("\n")


def test_index_json_counts_what_was_done(askcode):
    first = askcode("index", "--json").json
    second = askcode("index", "--json").json

    assert first["files"] == {"indexed": 3, "unchanged": 0, "removed": 0, "skipped": 0}
    assert second["files"] == {"indexed": 0, "unchanged": 3, "removed": 0, "skipped": 0}
    assert first["chunks"]["written"] == first["chunks"]["total"] == second["chunks"]["total"]
    assert first["llm"] == {"calls": 0, "input_tokens": 0, "output_tokens": 0, "reused": 0}
    assert first["embedding"]["dim"] == 512


def test_changed_renamed_and_deleted_files_leave_nothing_behind(askcode):
    askcode("index")
    (askcode.folder / "shop/mail.py").rename(askcode.folder / "shop/post.py")
    (askcode.folder / "README.md").unlink()
    write(askcode.folder, {"shop/cart.py": "def checkout_total():\n    return 1\n"})

    report = askcode("index", "--json").json
    texts = askcode("search", "receipt total price install", "--json", "--top-k", "50").json

    assert report["files"] == {"indexed": 2, "unchanged": 0, "removed": 2, "skipped": 0}
    assert {hit["path"] for hit in texts["hits"]} <= {"shop/cart.py", "shop/post.py"}
    assert "class Cart" not in json.dumps(texts)


def test_ask_without_a_model_shows_excerpts_and_sources_and_says_so(askcode):
    askcode("index")

    asked = askcode("ask", "how is the receipt sent?")

    assert asked.code == 0
    assert "shop/mail.py:1-2" in asked.out
    assert "\nSources:\n  - shop/mail.py" in asked.out
    assert "no model answered" in asked.err


def test_ask_json_without_a_model_is_excerpts(askcode):
    askcode("index")

    answer = askcode("ask", "how is the receipt sent?", "--json").json

    assert (answer["mode"], answer["answer"]) == ("excerpts", None)
    assert answer["sources"][0] == "shop/mail.py"
    assert answer["usage"] == {"calls": 0, "input_tokens": 0, "output_tokens": 0}


def test_index_says_once_how_to_add_a_model(askcode):
    first, second = askcode("index"), askcode("index")

    assert first.err.count("OPENAI_API_KEY") == 1
    assert "OPENAI_API_KEY" not in second.err


def test_filters_limit_the_search(askcode):
    askcode("index")

    by_path = askcode("search", "shop", "--path-glob", "*.md", "--json").json
    by_language = askcode("search", "shop", "--lang", "py", "--json").json

    assert {hit["path"] for hit in by_path["hits"]} == {"README.md"}
    assert {hit["language"] for hit in by_language["hits"]} == {"python"}


def test_a_file_changed_since_is_marked_and_named(askcode):
    askcode("index")
    write(askcode.folder, {"shop/mail.py": "# moved\ndef send_receipt(address):\n    pass\n"})

    found = askcode("search", "send receipt", "--json")
    shown = askcode("search", "send receipt")

    assert found.json["stale"] == ["shop/mail.py"]
    assert "[changed since indexed]" in shown.out
    assert "changed since the index was made" in shown.err


def test_check_tells_a_fresh_index_from_a_stale_one_and_changes_nothing(askcode):
    askcode("index")
    fresh = askcode("index", "--check")
    write(askcode.folder, {"new.py": "x = 1\n"})

    stale, again = askcode("index", "--check"), askcode("index", "--check")

    assert fresh.code == 0
    assert (stale.code, again.code) == (7, 7)
    assert "1 new" in stale.err


def test_dry_run_names_every_file_and_writes_nothing(askcode):
    write(askcode.folder, {".env": "KEY=1\n", "blob.bin": b"\x00\x01"})

    plan = askcode("index", "--dry-run", "--json").json

    decisions = {file["path"]: (file["decision"], file["reason"]) for file in plan["files"]}
    assert decisions["shop/cart.py"] == ("index", "new")
    assert decisions[".env"][0] == decisions["blob.bin"][0] == "skip"
    assert decisions[".env"][1].startswith("secret")
    assert decisions["blob.bin"][1].startswith("binary")
    assert not (askcode.folder / ".askcode").exists()


@pytest.mark.parametrize(
    ("question", "is_found"),
    [
        ("Where is the tax added?", True),
        ("what is the total", True),
        ("What does the shopping cart do?", True),
        ("Where is user input checked?", False),
        ("who won the chess match in Reykjavik?", False),
        ("how does the kernel schedule threads?", False),
    ],
)
def test_a_small_code_base_answers_what_it_says_and_nothing_else(askcode, question, is_found):
    askcode("index")

    asked = askcode("ask", question, "--no-llm", "--json").json

    assert asked["mode"] == ("excerpts" if is_found else "nothing_found")
    assert bool(asked["hits"]) is is_found


def test_verbose_names_a_file_that_was_read_leniently(askcode):
    write(askcode.folder, {"bad.py": b'def ok():\n    return "a\xffb"\n'})

    planned = askcode("index", "--dry-run", "--verbose")
    indexed = askcode("index", "--verbose")

    assert "bad.py  (new, undecodable bytes replaced: 1)" in planned.out
    assert "read: bad.py (undecodable bytes replaced: 1)" in indexed.out.splitlines()
    assert "bad.py" not in askcode("index").out


def test_a_repository_inside_is_counted_and_can_be_taken_in(askcode):
    subprocess.run(["git", "init", "-q", str(askcode.folder)], check=True)
    subprocess.run(["git", "init", "-q", str(askcode.folder / "inner")], check=True)
    write(askcode.folder, {"inner/deep.py": "def inner_deep():\n    return 1\n"})

    without, taken = askcode("index"), askcode("index", "--submodules")
    found = askcode("search", "inner_deep", "--json")

    assert "1 repository inside this one left out (--submodules)" in without.out.splitlines()
    assert "left out" not in taken.out.split("\n", 1)[1]
    assert found.json["hits"][0]["path"] == "inner/deep.py"


def test_the_index_hides_itself_from_git(askcode):
    git = ["git", "-C", str(askcode.folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    before = subprocess.run([*git, "status", "--porcelain"], capture_output=True, check=True)

    askcode("index")
    after = subprocess.run([*git, "status", "--porcelain"], capture_output=True, check=True)

    assert before.stdout == after.stdout


def test_search_from_a_folder_below_finds_the_index_above(askcode):
    askcode("index")

    found = askcode("search", "receipt", "--path", "shop", "--json").json

    assert found["hits"][0]["path"] == "shop/mail.py"


def test_status_counts_and_names_settings(askcode):
    askcode("index")
    write(askcode.folder, {"new.py": "x = 1\n"})

    status = askcode("status", "--json")

    assert status.code == 0
    assert status.json["files"] == 3
    assert askcode("status").out.count("1 new") == 1


def test_the_index_can_lie_elsewhere(askcode, tmp_path):
    place = tmp_path / "elsewhere"

    askcode("index", "--index-dir", str(place))
    found = askcode("search", "receipt", "--index-dir", str(place), "--json").json

    assert found["hits"][0]["path"] == "shop/mail.py"
    assert not (askcode.folder / ".askcode").exists()


def test_rebuild_replaces_the_table_and_keeps_one(askcode):
    askcode("index")
    rebuilt = askcode("index", "--rebuild", "--json").json

    tables = list((askcode.folder / ".askcode").glob("*.lance"))

    assert rebuilt["files"]["indexed"] == 3
    assert len(tables) == 1
    assert askcode("search", "receipt").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["search", "x"], 3, "there is no index"),
        (["status"], 3, "there is no index"),
        (["index", "--check"], 3, "there is no index"),
        (["index", "no-such-folder"], 2, "does not exist"),
        (["ask", "   "], 2, "the question is empty"),
        (["search", "x", "--mode", "magic"], 2, "there is no mode"),
        (["--nosuch"], 2, "No such option"),
        (["nosuch"], 2, "nosuch"),
        (["index", "--max-file-size", "big"], 2, "size"),
        (["index", "--metadata", "poem"], 2, "poem"),
        (["schema", "nosuch"], 2, "there is no schema"),
        (["prompts", "show", "nosuch"], 2, "nosuch"),
    ],
)
def test_wrong_use_has_its_code_one_line_and_a_hint(askcode, arguments, code, message):
    ran = askcode(*arguments)

    assert ran.code == code
    assert ran.out == ""
    first, hint = ran.err.splitlines()[:2]
    assert first.startswith("askcode: ")
    assert message in first
    assert hint.startswith("  hint: ")


def test_an_empty_index_is_said_to_be_empty(tmp_path, capsys, monkeypatch):
    askcode = CommandLine(tmp_path, capsys, monkeypatch)

    indexed, asked = askcode("index"), askcode("ask", "anything?")

    assert indexed.code == 0
    assert "no files to index" in indexed.err
    assert asked.code == 3
    assert "the index is empty" in asked.err


def test_another_embedding_model_is_refused_with_the_repair(askcode, monkeypatch):
    askcode("index")
    manifest = askcode.folder / ".askcode" / "manifest.json"
    text = json.loads(manifest.read_text())
    text["embedder"]["digest"] = "0" * 32
    manifest.write_text(json.dumps(text))

    asked, indexed = askcode("search", "x"), askcode("index")
    repaired = askcode("index", "--rebuild")

    assert (asked.code, indexed.code, repaired.code) == (3, 3, 0)
    assert "--rebuild" in asked.err


def test_a_damaged_table_is_named_and_made_anew(askcode):
    askcode("index")
    for manifest in (askcode.folder / ".askcode").rglob("*.manifest"):
        manifest.unlink()

    asked, indexed = askcode("search", "receipt"), askcode("index")

    assert (asked.code, indexed.code) == (3, 0)
    assert "damaged" in asked.err
    assert "made anew" in indexed.err
    assert askcode("search", "receipt", "--json").json["hits"][0]["path"] == "shop/mail.py"


def test_prompts_are_listed_shown_and_exported(askcode, tmp_path):
    names = [line.split()[0] for line in askcode("prompts", "list").out.splitlines()]
    shown = askcode("prompts", "show", "questions")
    exported = askcode("prompts", "export", str(tmp_path / "own"))

    assert {"questions", "subquestions", "answer", "excerpt"} <= set(names)
    assert shown.out.startswith("{#")
    assert exported.code == 0
    assert (tmp_path / "own" / "questions.j2").is_file()


def test_a_question_can_come_from_standard_input(askcode):
    askcode("index")

    asked = run_process("ask", "-", "--json", cwd=askcode.folder, stdin="send receipt\n")

    assert asked.json["question"] == "send receipt"


def test_source_with_markup_and_controls_is_shown_safely(askcode):
    write(
        askcode.folder,
        {
            "app/[id]/page.tsx": "export function pageFn() { return 1 }\n",
            "tag.py": 'def tagged():\n    return "[/bold] :smile: \x1b[2J"\n',
        },
    )
    askcode("index")

    page, tag = askcode("ask", "pageFn"), askcode("ask", "tagged")

    assert "  - app/[id]/page.tsx\n" in page.out
    assert r"[/bold] :smile: \x1b[2J" in tag.out
    assert "\x1b" not in page.out + tag.out + page.err + tag.err


def test_long_paths_are_not_wrapped(askcode):
    path = f"src/{'d' * 120}/deep.py"
    write(askcode.folder, {path: "def deep_function():\n    return 1\n"})
    askcode("index")

    assert f"  - {path}\n" in askcode("ask", "deep_function").out


def test_paths_that_look_like_filters_are_stored_and_removed_exactly(askcode):
    names = ["it's.py", "' OR 1=1 --.py", 'd"q.py', "100%_.py", "back\\slash.py", "new\nline.py"]
    write(
        askcode.folder, {name: f"def odd_{i}():\n    return {i}\n" for i, name in enumerate(names)}
    )
    askcode("index")
    for name in names:
        (askcode.folder / name).unlink()

    report = askcode("index", "--json").json

    assert report["files"] == {"indexed": 0, "unchanged": 3, "removed": len(names), "skipped": 0}


def test_help_and_version_load_no_heavy_library():
    script = (
        "import sys\n"
        "from askcode.cli import app\n"
        "app(['index', '--help'], standalone_mode=False)\n"
        "heavy = {'lancedb', 'fastembed', 'openai', 'onnxruntime', 'pyarrow', 'tree_sitter'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert "--dry-run" in done.stdout


def test_a_closed_pipe_is_quiet(askcode):
    askcode("index")
    command = [sys.executable, "-m", "askcode", "ask", "receipt"]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        cwd=askcode.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()

    error = process.stderr.read().decode()
    code = process.wait(60)
    process.stderr.close()

    assert code == 141
    assert "Traceback" not in error
    assert "Broken" not in error


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_in_time_and_says_what_was_kept(tmp_path, number, code):
    write(tmp_path, {f"f{i}.py": f"def f{i}():\n    return {i}\n" for i in range(30)})
    with ScriptedServer("hang") as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "askcode", "index"],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(PROJECT),
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_KEY": "k",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_line(process.stderr, "LLM call")
        time.sleep(1)
        process.send_signal(number)
        started = time.monotonic()
        error = process.stderr.read()
        ended = process.wait(30)

    assert ended == code
    assert time.monotonic() - started < 3
    assert "0 of 30 files are indexed" in error
    assert "Traceback" not in error
    process.stdout.close()
    process.stderr.close()


def wait_for_line(stream, word):
    for line in stream:
        if word in line:
            return
