"""The commands with a language model behind them: calls, cost, answers, faults, exit codes."""

import time

import pytest

from askcode.adapters.bpe_tokens import count_llm_tokens
from tests.command_line import CommandLine, write
from tests.scripted_server import Fail, Say, ScriptedServer

KEY = "sk-FAKE-7f3a9c1e5b"
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
PLUGH = "Q1: Where does the plugh happen?\nA1: In the xyzzy.\n"
FAULTS_OF_EVERY_CALL = {"401", "403", "quota", "404", "nomodel", "200html"}


def say(*, questions=PLUGH, subquestions="", answer="", standalone=""):
    """Return a script that answers each kind of prompt with its own text."""

    def script(request):
        if "<<<excerpts " in request.user:
            return Say(answer)
        if "<<<conversation " in request.user:
            return Say(standalone)
        return Say(subquestions if "further questions" in request.user else questions)

    return script


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, SHOP)
    return CommandLine(folder, capsys, monkeypatch)


@pytest.fixture
def serving(monkeypatch):
    """Return what starts a server as the configured language model, until the test ends."""
    servers = []

    def start(script, **options):
        server = ScriptedServer(script, **options).__enter__()
        servers.append(server)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


@pytest.fixture
def asking(askcode, serving):
    """Return what asks an index made without a model with a model of some script."""
    made = askcode("index", "-q", "--no-llm")
    assert made.code == 0, made.err

    def ask(script, *arguments):
        server = serving(script)
        return askcode("ask", *arguments), server

    return ask


# --- index: questions and what they cost


def test_index_writes_questions_and_counts_its_calls(askcode, serving):
    server = serving(say())

    report = askcode("index", "--json").json
    status = askcode("status", "--json").json

    assert len(server.requests) == report["chunks"]["total"] == report["llm"]["calls"] == 3
    assert report["llm"]["input_tokens"] == server.usage.input_tokens
    assert report["llm"]["output_tokens"] == server.usage.output_tokens
    assert (status["questions"], status["metadata"]) == (3, ["questions"])
    assert status["spent"] == {
        "calls": 3,
        "input_tokens": server.usage.input_tokens,
        "output_tokens": server.usage.output_tokens,
    }


def test_a_chunk_is_found_by_words_that_only_its_question_has(askcode, serving):
    serving(lambda request: Say(PLUGH if "send_receipt" in request.user else "Q1: b?\nA1: c"))
    askcode("index", "-q")

    found = askcode("search", "plugh", "--json", "--mode", "text").json

    assert [hit["path"] for hit in found["hits"]] == ["shop/mail.py"]
    assert "plugh" not in found["hits"][0]["text"]


def test_a_model_that_comes_later_is_asked_only_for_what_is_missing(askcode, serving):
    askcode("index", "-q")
    server = serving(say())
    first = askcode("index", "--json").json
    write(askcode.folder, {"shop/tax.py": "def tax(price):\n    return price * 0.2\n"})

    second = askcode("index", "--json").json

    assert first["llm"]["calls"] == 3
    assert second["llm"]["calls"] == 1
    assert "shop/tax.py" in server.requests[-1].user
    assert len(server.requests) == 4


def nothing(folder):
    """Change nothing."""


def rename(folder):
    (folder / "shop/mail.py").rename(folder / "shop/post.py")


def change_line_ends(folder):
    for path in SHOP:
        place = folder / path
        place.write_bytes(place.read_bytes().replace(b"\n", b"\r\n"))


def add_trailing_blanks(folder):
    for path in ("shop/cart.py", "shop/mail.py"):
        place = folder / path
        place.write_text(place.read_text().replace("\n", "  \n"))


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (nothing, ()),
        (rename, ()),
        (change_line_ends, ()),
        (add_trailing_blanks, ()),
        (nothing, ("--rebuild",)),
    ],
)
def test_what_was_paid_for_is_not_asked_again(askcode, serving, change, options):
    server = serving(say())
    askcode("index", "-q")
    paid = len(server.requests)
    change(askcode.folder)

    planned = askcode("index", "--dry-run", "--json", *options).json
    ran = askcode("index", "--json", *options)

    assert planned["llm"]["calls"] == ran.json["llm"]["calls"] == 0
    assert len(server.requests) == paid
    assert askcode("status", "--json").json["questions"] == paid


def test_a_run_stops_at_its_calls_and_the_next_goes_on(askcode, serving):
    server = serving(say())

    stopped = askcode("index", "--max-calls", "1")
    after_one = len(server.requests)
    finished = askcode("index", "--json")

    assert (stopped.code, after_one) == (5, 1)
    assert "--max-calls 1" in stopped.err
    assert (finished.code, finished.json["llm"]["calls"]) == (0, 2)
    assert askcode("status", "--json").json["questions"] == 3


def test_no_calls_are_allowed_at_all(askcode, serving):
    server = serving(say())

    ran = askcode("index", "--max-calls", "0")

    assert (ran.code, server.requests) == (5, [])
    assert askcode("search", "receipt", "--json").code in (0, 3)


def test_many_calls_want_a_yes(askcode, serving):
    write(askcode.folder, {f"f/f{i}.py": f"def f{i}():\n    return {i}\n" for i in range(200)})
    server = serving(say())

    refused = askcode("index")
    asked = len(server.requests)
    agreed = askcode("index", "--yes", "--json")

    assert (refused.code, asked) == (2, 0)
    assert "203 LLM calls" in refused.err
    assert "--yes" in refused.err
    assert (agreed.code, agreed.json["llm"]["calls"]) == (0, 203)
    assert len(server.requests) == 203


def test_the_estimate_is_what_the_server_counts(askcode, serving):
    server = serving(say(), count=count_llm_tokens)

    planned = askcode("index", "--dry-run", "--json").json["llm"]
    asked = len(server.requests)
    askcode("index", "-q")

    assert asked == 0
    assert planned["calls"] == server.usage.calls == 3
    assert planned["input_tokens"] == pytest.approx(server.usage.input_tokens, rel=0.1)


@pytest.mark.parametrize("kinds", [("summary",), ("title", "keywords"), ("outline",)])
def test_the_estimate_counts_each_kind_of_metadata(askcode, serving, kinds):
    server = serving("prose", count=count_llm_tokens)
    options = [option for kind in kinds for option in ("--metadata", kind)]

    planned = askcode("index", "--dry-run", "--json", *options).json["llm"]
    ran = askcode("index", "--json", *options)

    assert ran.code == 0
    assert planned["calls"] == ran.json["llm"]["calls"] == len(server.requests)
    assert len(server.requests) == 3 * len([kind for kind in kinds if kind != "outline"])
    assert planned["input_tokens"] == pytest.approx(server.usage.input_tokens, rel=0.1)


# --- ask: the answer and its proof


def test_an_answer_comes_with_checked_citations_and_sources(asking):
    script = say(answer="Receipts go by mail (`shop/mail.py:1-2`).")

    asked, server = asking(script, "how is the receipt sent?")

    assert asked.code == 0
    assert asked.out.startswith("Receipts go by mail (`shop/mail.py:1-2`).\n")
    assert "\nSources:\n  - shop/mail.py\n" in asked.out
    assert server.requests[-1].wants_stream
    assert "return smtp.send(address)" in server.requests[-1].user


def test_the_json_answer_tells_citations_and_usage(asking):
    script = say(answer="By mail (`shop/mail.py:1-2`).", subquestions="How does smtp send?")

    asked, server = asking(script, "how is the receipt sent?", "--json")

    answer = asked.json
    assert (answer["mode"], answer["answer"]) == ("answer", "By mail (`shop/mail.py:1-2`).")
    assert answer["question"] == "how is the receipt sent?"
    assert answer["subquestions"] == ["How does smtp send?"]
    assert answer["citations"] == [
        {"path": "shop/mail.py", "start_line": 1, "end_line": 2, "valid": True, "why": ""}
    ]
    assert answer["usage"] == {
        "calls": 2,
        "input_tokens": server.usage.input_tokens,
        "output_tokens": server.usage.output_tokens,
    }


def test_a_whole_answer_is_the_streamed_one(askcode, asking):
    script = say(answer="By mail (`shop/mail.py:1-2`).")

    streamed, _ = asking(script, "how is the receipt sent?")
    whole = askcode("ask", "how is the receipt sent?", "--no-stream")

    assert (whole.code, whole.out) == (0, streamed.out)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("By mail (`shop/mail.py:1-2`).", 0),
        ("By mail (`shop/mail.py:90-95`).", 7),
        ("By mail (`shop/ghost.py:1-2`).", 7),
        ("By mail (`shop/mail.py:1-2`), by fax (`shop/fax.py:3`).", 7),
        ("By mail.", 7),
    ],
)
def test_strict_wants_citations_that_hold(askcode, asking, answer, code):
    strict, _ = asking(say(answer=answer), "how is the receipt sent?", "--strict")
    lenient = askcode("ask", "how is the receipt sent?")

    assert (strict.code, lenient.code) == (code, 0)
    assert strict.out.startswith(answer.split(" (")[0])
    assert "Sources:" in strict.out
    assert ("hint: " in strict.err) == (code == 7)


@pytest.mark.parametrize(
    ("reply", "subquestions"),
    [
        ("What sends mail?\nWhat adds tax?", ["What sends mail?", "What adds tax?"]),
        ('1. "What sends mail?"\n2. **What adds tax?**', ["What sends mail?", "What adds tax?"]),
        ('```json\n["What sends mail?"]\n```', ["What sends mail?"]),
        ("how is the receipt sent?", []),
        ("", []),
        ("\n \n", []),
        ("```\n```", []),
    ],
)
def test_subquestions_are_used_and_unusable_ones_do_no_harm(asking, reply, subquestions):
    script = say(answer="By mail (`shop/mail.py:1`).", subquestions=reply)

    asked, _ = asking(script, "how is the receipt sent?", "--json")

    assert (asked.code, asked.json["mode"]) == (0, "answer")
    assert asked.json["subquestions"] == subquestions
    assert asked.json["sources"][0] == "shop/mail.py"


def test_a_question_that_is_not_widened_says_why(asking):
    asked, _ = asking(say(answer="By mail (`shop/mail.py:1`).", subquestions=""), "receipt?")

    assert asked.code == 0
    assert "the question was not widened" in asked.err


def test_no_subquestions_is_one_call(asking):
    script = say(answer="By mail (`shop/mail.py:1`).")

    asked, server = asking(script, "how is the receipt sent?", "--no-subquestions", "--json")

    assert (asked.code, len(server.requests)) == (0, 1)
    assert asked.json["usage"]["calls"] == 1


def test_without_llm_no_call_is_made_though_a_model_is_there(asking):
    asked, server = asking(say(), "how is the receipt sent?", "--no-llm", "--json")

    assert (asked.json["mode"], server.requests) == ("excerpts", [])


def test_what_is_not_there_is_said_without_a_paid_answer(asking):
    asked, server = asking(
        say(answer="invented"),
        "kubernetes ingress certificates",
        "--no-subquestions",
        "--path-glob",
        "*.rs",
        "--json",
    )

    assert (asked.code, asked.json["mode"], asked.json["answer"]) == (0, "nothing_found", None)
    assert server.requests == []


@pytest.mark.parametrize("question", ["", "   ", "\t\n"])
def test_an_empty_question_costs_nothing(asking, question):
    asked, server = asking(say(answer="invented"), question)

    assert (asked.code, asked.out, server.requests) == (2, "", [])


def test_a_follow_up_is_asked_as_a_question_of_its_own(askcode, asking):
    script = say(
        answer="By mail (`shop/mail.py:1-2`).", standalone="Where is send_receipt defined?"
    )
    asking(script, "how is the receipt sent?", "--no-subquestions")

    follow_up = askcode("ask", "-c", "where is it?", "--no-subquestions", "--json")

    assert follow_up.code == 0
    assert follow_up.json["question"] == "Where is send_receipt defined?"
    assert follow_up.json["usage"]["calls"] == 2
    history = askcode("history", "--json").json["questions"]
    assert [each["question"] for each in history] == ["how is the receipt sent?", "where is it?"]
    assert history[0]["conversation"] == history[1]["conversation"]


def test_a_follow_up_needs_a_conversation(asking):
    asked, server = asking(say(), "-c", "where is it?")

    assert (asked.code, server.requests) == (2, [])


def test_source_reaches_the_model_byte_for_byte(askcode, serving):
    source = 'A = "{missing} {0} {} {{x}} {{ 7*7 }} {% raw %} %s ${HOME}"\n'
    write(askcode.folder, {"b.py": source})
    server = serving(say(answer="Nothing (`b.py:1`)."))
    askcode("index", "-q")

    asked = askcode("ask", "what is {{ 7*7 }} of {missing} {% x?")

    about = [request.user for request in server.requests if "File: b.py" in request.user]
    assert [source.strip() in text for text in about] == [True]
    assert asked.code == 0
    assert "what is {{ 7*7 }} of {missing} {% x?" in server.requests[-1].user


# --- faults: bounded calls, one exit code each


@pytest.mark.parametrize("command", [("index",), ("ask", "receipt?")])
@pytest.mark.parametrize("fault", sorted(FAULTS_OF_EVERY_CALL))
def test_what_every_call_would_meet_ends_a_run_after_one(askcode, serving, command, fault):
    made = askcode("index", "-q", "--no-llm")
    server = serving(fault)

    ran = askcode(*command)

    assert made.code == 0, made.err
    assert (ran.code, len(server.requests)) == (4, 1), ran.err
    told = [line for line in ran.err.splitlines() if line.startswith("askcode: ")]
    assert told
    assert "Traceback" not in ran.err
    assert KEY not in ran.err
    assert askcode("search", "receipt", "--json").json["hits"][0]["path"] == "shop/mail.py"


def test_a_rate_limit_is_waited_for(askcode, serving):
    first = Fail(429, "slow down", "rate_limit_exceeded", headers=(("Retry-After", "1"),))
    server = serving([first, PLUGH])
    started = time.monotonic()

    ran = askcode("index", "--json")

    assert (ran.code, len(server.requests)) == (0, 4)
    assert 1 <= time.monotonic() - started < 8


@pytest.mark.parametrize(
    "fault", ["cutstream", "empty", "blank", "reason", "filter", "nochoices", "nullcontent"]
)
def test_no_answer_is_never_taken_for_one(asking, fault):
    asked, server = asking(fault, "how is the receipt sent?", "--no-subquestions")

    assert asked.code == 4
    assert len(server.requests) <= 4
    assert "I think about it" not in asked.out + asked.err
    assert "Sources:" not in asked.out


def test_a_context_that_never_fits_is_halved_and_given_up(asking):
    asked, server = asking("ctx", "how is the receipt sent?", "--no-subquestions")

    assert (asked.code, len(server.requests)) == (4, 4)
    assert "the context does not fit" in asked.err


def test_a_context_that_never_fits_leaves_chunks_without_questions(askcode, serving):
    server = serving("ctx")

    ran = askcode("index")

    assert ran.code == 5
    assert len(server.requests) <= 2 * 3
    assert askcode("search", "receipt", "--json").json["hits"][0]["path"] == "shop/mail.py"


@pytest.mark.parametrize("fault", ["fence", "prose", "trail", "notlist", "think"])
def test_questions_are_read_from_whatever_form_they_come_in(askcode, serving, fault):
    server = serving(fault)

    ran = askcode("index", "-q")

    assert ran.code == 0
    assert len(server.requests) == 3
    assert askcode("status", "--json").json["questions"] >= 3


def test_whole_pairs_of_a_cut_reply_are_kept(askcode, serving):
    server = serving(lambda _: Say(f"{PLUGH}Q2: How is it", "length"))

    ran = askcode("index", "-q")

    assert (ran.code, len(server.requests)) == (0, 3)
    assert askcode("status", "--json").json["questions"] == 3


@pytest.mark.parametrize("fault", ["types", "cut"])
def test_unusable_replies_are_asked_for_once_more(askcode, serving, fault):
    server = serving(fault)

    ran = askcode("index", "--json")

    assert ran.code == 5
    assert len(server.requests) == 2 * 3
    assert {file["path"] for file in ran.json["failed"]} == set(SHOP)


@pytest.mark.parametrize("fault", ["maxtok", "nomaxc", "notemp", "nosys", "nofmt", "nostreamopts"])
def test_a_server_with_its_own_dialect_costs_one_call_more_at_most(askcode, serving, fault):
    server = serving(fault)

    indexed = askcode("index", "-q")
    calls = len(server.requests)
    asked = askcode("ask", "how is the receipt sent?", "--no-subquestions")

    assert (indexed.code, asked.code) == (0, 0)
    assert calls <= 3 + 1
    assert len(server.requests) - calls <= 2


@pytest.mark.parametrize("fault", ["badjson", "500"])
def test_a_broken_server_is_given_up_in_time(askcode, serving, fault):
    (askcode.folder / "shop/cart.py").unlink()
    (askcode.folder / "README.md").unlink()
    server = serving(fault)
    started = time.monotonic()

    ran = askcode("index")

    assert ran.code == 4
    assert len(server.requests) <= 4
    assert time.monotonic() - started < 10


def test_a_silent_server_is_left_in_time(askcode, serving):
    serving("hang")
    started = time.monotonic()

    ran = askcode("index", "--timeout", "0.3")

    assert ran.code == 4
    assert time.monotonic() - started < 8


def test_nobody_listens(askcode, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    started = time.monotonic()

    ran = askcode("index")

    assert ran.code == 4
    assert "127.0.0.1:9" in ran.err
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("fault", ["401", "500", "200html", "cutstream"])
def test_the_key_is_shown_nowhere(askcode, asking, fault):
    (askcode.folder / "shop/cart.py").unlink()
    ran, server = asking(fault, "how is the receipt sent?", "--no-subquestions")
    debugged = askcode("--debug", "ask", "how is the receipt sent?", "--no-subquestions")
    status = askcode("status")

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "Traceback" in debugged.err
    shown = [ran, debugged, status, askcode("history", "--json")]
    assert not any(KEY in each.out + each.err for each in shown)
    kept = [path for path in (askcode.folder / ".askcode").rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in kept)


def test_escape_sequences_of_a_model_do_not_reach_the_terminal(asking):
    asked, _ = asking("ansi", "how is the receipt sent?")

    assert asked.code == 0
    assert r"\x1b[2J" in asked.out
    assert not set("\x1b\x07\x9b\u202e") & set(asked.out + asked.err)


def test_forced_colour_sends_no_escapes_into_a_pipe(askcode, asking, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")

    asked, _ = asking(say(answer="By **mail** (`shop/mail.py:1`)."), "how is the receipt sent?")
    found = askcode("search", "receipt")

    assert asked.out.startswith("By **mail** (`shop/mail.py:1`).\n")
    assert "\x1b" not in asked.out + found.out


def test_every_failure_leaves_the_json_output_empty(asking):
    asked, _ = asking("401", "how is the receipt sent?", "--json")

    assert (asked.code, asked.out) == (4, "")
