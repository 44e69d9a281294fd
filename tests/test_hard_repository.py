"""The hard repository from end to end: what is stored, found, sent, and never seen."""

import pytest

from tests.command_line import run_process
from tests.hard_repo import IGNORED, build_hard_repo
from tests.killing import stored_rows
from tests.scripted_server import ScriptedServer


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    root = tmp_path_factory.mktemp("hard") / "repo"
    root.mkdir()
    expectations = build_hard_repo(root)
    with ScriptedServer("ok") as server:
        endpoint = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "k"}
        ran = run_process("index", "--yes", "--json", cwd=root, env=endpoint, timeout=240)
        sent = [request.system + request.user for request in server.requests]
    from askcode.path_codec import decode_path

    rows = [(decode_path(row["path"]), row) for row in stored_rows(root)]
    return expectations, ran, rows, sent


@pytest.mark.slow
def test_files_are_stored_or_left_out_as_declared(hard):
    expectations, ran, rows, _ = hard

    left_out = {each.path for each in expectations if each.reason}
    reasons = {left["path"]: left["reason"] for left in ran.json["skipped"]}

    assert ran.code == 0, ran.err
    assert left_out & {path for path, _ in rows} == set()
    for each in expectations:
        if each.reason and each.reason != IGNORED:
            assert reasons[each.path].startswith(each.reason), each.path


@pytest.mark.slow
def test_every_text_is_stored_and_every_line_number_holds(hard):
    expectations, _, rows, _ = hard

    for each in expectations:
        own = [row for path, row in rows if path == each.path]
        text = "\n".join(row["text"] for row in own)
        assert [word for word in each.find if word not in text] == [], each.path
        if each.line and not each.reason:
            word, line = each.line
            lines = {
                row["start_line"] + number
                for row in own
                for number, content in enumerate(row["text"].split("\n"))
                if word in content
            }
            assert line in lines, each.path


@pytest.mark.slow
def test_nothing_forbidden_is_stored_sent_or_printed(hard):
    expectations, ran, rows, sent = hard
    places = [repr(row["text"]) for _, row in rows] + sent + [ran.out, ran.err]

    leaks = [
        (each.path, word)
        for each in expectations
        for word in each.never
        if any(word in place for place in places)
    ]

    assert leaks == []
