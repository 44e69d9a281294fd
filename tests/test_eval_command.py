"""askcode eval: metrics, answers, kept runs, comparisons, datasets, and wrong input."""

import json
import math

import pytest

from tests.command_line import PROJECT, CommandLine, write
from tests.scripted_server import Fail, Say, ScriptedServer

FILES = {
    "cart.py": "class Cart:\n    def total_price(self):\n        return self.prices\n",
    "mail.py": "def send_receipt(address):\n    return smtp.send(address)\n",
    "tax.py": "def tax_rate(country):\n    return RATES[country]\n",
}
ROWS = [
    {"question": "where is total_price?", "paths": ["cart.py"], "answer": "In Cart.", "id": 7},
    {"question": "what does send_receipt do?", "paths": ["./mail.py", "tax.py"]},
]


@pytest.fixture
def askcode(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    folder.mkdir()
    write(folder, FILES)
    run = CommandLine(folder, capsys, monkeypatch)
    assert run("index", "-q").code == 0
    return run


@pytest.fixture
def answering(monkeypatch):
    """Return what starts a server as the configured language model, until the test ends."""
    servers = []

    def start(script):
        server = ScriptedServer(script).__enter__()
        servers.append(server)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def save(askcode, rows, name="questions.jsonl"):
    path = askcode.folder.parent / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def test_the_metrics_are_those_of_the_ranking(askcode):
    found = askcode("search", ROWS[1]["question"], "--json", "-k", "50").json["hits"]
    ranked = list(dict.fromkeys(hit["path"] for hit in found))
    places = [ranked.index(path) for path in ("mail.py", "tax.py") if path in ranked[:2]]
    gained = sum(1 / math.log2(place + 2) for place in places)

    ran = askcode("eval", save(askcode, ROWS), "--json", "-k", "2").json

    assert [row["question"] for row in ran["rows"]] == [row["question"] for row in ROWS]
    assert ran["rows"][0]["ranked"][0] == "cart.py"
    assert ran["rows"][1]["paths"] == ["mail.py", "tax.py"]
    assert ran["rows"][1]["recall"] == len(places) / 2
    assert ran["rows"][1]["ndcg"] == pytest.approx(gained / (1 + 1 / math.log2(3)))
    assert ran["recall"] == pytest.approx((1 + len(places) / 2) / 2)
    assert (ran["questions"], ran["k"], ran["hit_at_1"], ran["mrr"]) == (2, 2, 1.0, 1.0)
    assert (ran["answers"], ran["comparison"]) == (None, None)


def test_the_text_says_what_was_measured(askcode):
    ran = askcode("eval", save(askcode, ROWS[:1]))

    assert ran.out.splitlines() == [
        "questions:       1",
        "recall@10:       1.000",
        "MRR:             1.000",
        "NDCG@10:         1.000",
        "hit@1:           1.000",
    ]
    assert ran.err == ""


def test_min_recall_says_no_after_the_result(askcode):
    rows = [*ROWS[:1], {"question": "where is total_price kept?", "paths": ["gone.py"]}]

    below = askcode("eval", save(askcode, rows), "--min-recall", "0.51")
    enough = askcode("eval", save(askcode, rows), "--min-recall", "0.5")

    assert below.code == 7
    assert "recall@10:       0.500" in below.out
    assert "recall@10 is 0.500, below 0.51" in below.err
    assert "expected, but not in the index: gone.py" in below.err
    assert enough.code == 0


def test_runs_are_compared_question_by_question(askcode):
    kept = str(askcode.folder.parent / "run.jsonl")
    swapped = [{**ROWS[0], "paths": ["tax.py"]}, ROWS[1], {"question": "old?", "paths": ["x"]}]
    askcode("eval", save(askcode, swapped), "--output", kept, "-q")
    rows = [*ROWS, {"question": "new?", "paths": ["cart.py"]}]

    ran = askcode("eval", save(askcode, rows), "--compare", kept, "--json").json["comparison"]
    text = askcode("eval", save(askcode, rows), "--compare", kept).out

    assert (ran["common"], ran["only_before"], ran["only_now"]) == (2, 1, 1)
    assert [(one["question"], one["now"]) for one in ran["wins"]] == [(ROWS[0]["question"], 1.0)]
    assert ran["losses"] == []
    ndcg = next(one for one in ran["differences"] if one["metric"] == "ndcg")
    assert ndcg["low"] <= ndcg["now"] - ndcg["before"] <= ndcg["high"]
    assert ndcg["low"] == 0.0
    assert "2 questions in both runs: 1 better, 0 worse, 1 the same" in text
    assert f"1.000  {ROWS[0]['question']}" in text


def test_a_run_compared_with_itself_is_the_same(askcode):
    kept = str(askcode.folder.parent / "run.jsonl")
    askcode("eval", save(askcode, ROWS), "--output", kept, "-q")

    ran = askcode("eval", save(askcode, ROWS), "--compare", kept, "--json").json["comparison"]

    assert (ran["wins"], ran["losses"]) == ([], [])
    assert all(one["low"] == one["high"] == 0 for one in ran["differences"])


def test_answers_are_scored_by_their_citations(askcode, answering):
    cited = "Here [cart.py:1-3], and there [other.py:1-2]."

    asked = "Where are the prices?"
    server = answering(lambda request: Say(cited if "<<<excerpts " in request.user else asked))
    ran = askcode("eval", save(askcode, ROWS[:1]), "--answers", "--json")

    answers = ran.json["answers"]
    assert (answers["citations"], answers["valid_citations"]) == (2, 1)
    assert (answers["citation_validity"], answers["expected_cited"]) == (0.5, 1.0)
    assert answers["usage"]["calls"] == len(server.requests) == 2
    assert "1 question, up to 2 LLM calls" in ran.err
    assert "Here" in ran.json["rows"][0]["answer"]


def test_no_model_is_asked_without_being_told_to(askcode, answering):
    server = answering(lambda request: Say("x"))

    assert askcode("eval", save(askcode, ROWS)).code == 0
    assert server.requests == []


def test_many_calls_need_a_yes(askcode, answering):
    server = answering(lambda request: Say("x"))
    rows = [{"question": f"where is number {i}?", "paths": ["cart.py"]} for i in range(101)]

    refused = askcode("eval", save(askcode, rows), "--answers")

    assert refused.code == 2
    assert "this run would make 202 LLM calls" in refused.err
    assert "--yes" in refused.err
    assert server.requests == []


def test_answers_without_a_model_are_refused(askcode):
    assert askcode("eval", save(askcode, ROWS), "--answers").code == 2


def test_a_question_that_fails_loses_no_other_answer(askcode, answering):
    def script(request):
        if "<<<excerpts " not in request.user:
            return Say("")
        is_bad = "send_receipt do" in request.user
        return Fail(400, "content policy", "content_filter") if is_bad else Say("[cart.py:1-2]")

    answering(script)
    ran = askcode("eval", save(askcode, ROWS), "--answers", "--json")

    assert ran.code == 5
    assert (ran.json["answers"]["answered"], ran.json["answers"]["failed"]) == (1, 1)
    assert "error" in ran.json["rows"][1]


def test_the_dataset_has_the_fields_of_a_ragas_sample(askcode, answering):
    answering(lambda request: Say("It adds [cart.py:1-3]." if "<<<ex" in request.user else ""))
    out = askcode.folder.parent / "dataset.jsonl"

    askcode("eval", save(askcode, ROWS), "--answers", "--ragas", str(out), "-q")

    first, second = [json.loads(line) for line in out.read_text().splitlines()]
    assert set(first) == {
        "user_input",
        "retrieved_contexts",
        "retrieved_context_ids",
        "reference_context_ids",
        "response",
        "reference",
    }
    assert (first["user_input"], first["reference"]) == (ROWS[0]["question"], "In Cart.")
    assert first["response"].startswith("It adds")
    assert any("total_price" in text for text in first["retrieved_contexts"])
    assert "reference" not in second


BAD = {
    "no JSON": ("{", "it is no JSON"),
    "no object": ("[]", "it is no JSON object"),
    "no question": ('{"paths": ["a"]}', "question must be a text"),
    "empty question": ('{"question": " ", "paths": ["a"]}', "the question is empty"),
    "no paths": ('{"question": "q"}', "paths must be a list of at least one path"),
    "empty paths": ('{"question": "q", "paths": []}', "paths must be a list"),
    "a number": ('{"question": "q", "paths": [3]}', "paths must be texts"),
    "absolute": ('{"question": "q", "paths": ["/a"]}', "relative to the root"),
    "outside": ('{"question": "q", "paths": ["a/../../b"]}', "relative to the root"),
    "answer": ('{"question": "q", "paths": ["a"], "answer": 3}', "answer must be a text"),
    "twice": ('{"question": "one?", "paths": ["a"]}', "stands in line 1 too"),
}


@pytest.mark.parametrize(("line", "why"), BAD.values(), ids=BAD)
def test_a_bad_row_is_named_with_file_and_line(askcode, line, why):
    path = askcode.folder.parent / "bad.jsonl"
    path.write_text(f'{{"question": "one?", "paths": ["a"]}}\n\n{line}\n')

    ran = askcode("eval", str(path))

    assert (ran.code, ran.out) == (2, "")
    assert f"{path}:3: " in ran.err
    assert why in ran.err


def test_other_wrong_use_is_told(askcode):
    questions = save(askcode, ROWS)
    run = str(askcode.folder.parent / "run.jsonl")
    askcode("eval", questions, "--output", run, "-q")
    wrong = {
        "holds no question": [save(askcode, [], "empty.jsonl")],
        "cannot read": ["nowhere.jsonl"],
        "is read and written": [questions, "--output", questions],
        "is no row of a run": [questions, "--compare", questions],
        "was scored at 10 files, not at 3": [questions, "--compare", run, "-k", "3"],
        "cannot write": [questions, "--output", "nowhere/run.jsonl"],
    }

    told = {why: askcode("eval", *arguments) for why, arguments in wrong.items()}

    assert {why: ran.code for why, ran in told.items()} == dict.fromkeys(wrong, 2)
    assert all(why in ran.err for why, ran in told.items())
    assert json.loads((askcode.folder.parent / "questions.jsonl").read_text().splitlines()[0])


def test_the_session_of_the_readme_runs_as_shown(askcode):
    text = (PROJECT / "README.md").read_text("utf-8")
    section = text.partition("## Measure it on your own code\n")[2]
    show, row, run, *expected = section.split("```")[1].splitlines()[1:]
    cart = "class Cart:\n    def total(self):\n        return self.net() * 1.2  # tax is added\n"
    write(askcode.folder, {"shop/cart.py": cart})
    for other in FILES:
        (askcode.folder / other).unlink()
    (askcode.folder / show.split()[-1]).write_text(row)
    askcode("index", "-q")

    ran = askcode(*run.split()[2:])

    assert ran.out.splitlines() == expected
    assert (askcode.folder / run.split()[-1]).is_file()


def test_without_an_index_there_is_nothing_to_score(tmp_path, capsys, monkeypatch):
    run = CommandLine(tmp_path, capsys, monkeypatch)
    (tmp_path / "q.jsonl").write_text(json.dumps(ROWS[0]))

    assert run("eval", "q.jsonl").code == 3
