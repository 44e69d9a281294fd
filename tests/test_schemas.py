"""What the commands print as JSON holds to the schemas that the package ships."""

import json
from importlib import resources

import pytest
from jsonschema import Draft202012Validator

from askcode.answered import Answered
from askcode.cli import rendering
from askcode.cli.evaluation_values import eval_json
from askcode.comparing import compare
from askcode.eval_questions import EvalQuestion
from askcode.evaluating import AnswerScore, Judged
from askcode.history import make_entry
from askcode.records import (
    Answer,
    Chunk,
    Citation,
    Description,
    EmbedderIdentity,
    Estimate,
    FailedFile,
    FilePlan,
    Hit,
    IndexPlan,
    IndexReport,
    Question,
    Retrieved,
    Skipped,
    Usage,
)
from askcode.scoring import Score

NAMES = ("ask", "eval", "history", "index", "plan", "search", "status")
EMBEDDER = EmbedderIdentity("bundled", "d", 256)
HITS = (
    Hit(Chunk("a.py", 1, 9, "text", "python", symbol="f"), Description(), "digest", 0.1234567891),
    Hit(Chunk("caf\udce9", 3, 3, "x"), Description(), "digest", 0.1),
)
FOUND = Retrieved(HITS, stale=("a.py",))
QUESTION = Question("how?", ("how?", "what?"))
CITATIONS = (Citation("a.py", 1, 2, True), Citation("excerpt 7", 0, 0, False, "none"))
ANSWER = Answer("answer", QUESTION, "text", ("a.py",), CITATIONS, FOUND, Usage(1, 2, 3))
EXCERPTS = Answer("excerpts", QUESTION, None, ("a.py",), (), FOUND)
NOTHING = Answer("nothing_found", QUESTION, None, (), (), Retrieved((), nearest=("b.py",)))
REPORT = IndexReport(
    indexed=2,
    unchanged=3,
    removed=1,
    skipped=(Skipped("x.bin", "binary"),),
    failed=(FailedFile("a.py", "refused"),),
    chunks_written=5,
    chunks_total=9,
    usage=Usage(1, 20, 30),
    reused=4,
    embedder=EMBEDDER,
    seconds=1.23456,
)
PLAN = IndexPlan(
    (FilePlan("a.py", "index", "new", 10, "python"), FilePlan("b", "skip", "binary", 3)),
    ("c.py",),
    4,
    Estimate(4, 100, 50),
)
JUDGED = (
    Judged(
        EvalQuestion("how?", ("a.py",), "so"),
        ("a.py",),
        ("text",),
        Score(1.0, 1.0, 1.0, 1.0),
        ANSWER,
        AnswerScore(2, 1, 1.0),
    ),
    Judged(EvalQuestion("why?", ("b.py",)), (), (), Score(0.0, 0.0, 0.0, 0.0), error="refused"),
)
BEFORE = {"how?": {"recall": 1.0, "ndcg": 0.5, "reciprocal_rank": 0.5, "first": 0.0}}
STATUS = rendering.Status(
    root="/r",
    index_dir="/r/.askcode",
    files=1,
    chunks=2,
    languages={"python": 1},
    questions=3,
    bytes=4,
    embedder=EMBEDDER,
    models={"answer": "m"},
    settings=(rendering.ShownSetting("top_k", "20", "default"),),
)


def schema(name):
    text = (resources.files("askcode") / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)


def entry():
    return make_entry(Answered(ANSWER, seconds={"s": 1.0}), question="how?")


OUTPUTS = [
    ("ask", rendering.answer_json(ANSWER)),
    ("ask", rendering.answer_json(EXCERPTS)),
    ("ask", rendering.answer_json(NOTHING)),
    ("eval", eval_json(JUDGED, compare(BEFORE, JUDGED), k=10)),
    ("eval", eval_json(JUDGED[1:], None, k=1)),
    ("history", rendering.history_json([entry()])),
    ("index", rendering.report_json(REPORT)),
    ("plan", rendering.plan_json(PLAN)),
    ("search", rendering.search_json(FOUND)),
    ("search", rendering.search_json(Retrieved(()))),
    ("status", rendering.status_json(STATUS)),
]


@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_are_schemas(name):
    Draft202012Validator.check_schema(schema(name))


def test_no_schema_is_left_untested():
    shipped = {item.name for item in (resources.files("askcode") / "schemas").iterdir()}

    assert shipped == {f"{name}.json" for name in NAMES}


@pytest.mark.parametrize(("name", "value"), OUTPUTS)
def test_outputs_hold_to_their_schema(name, value):
    Draft202012Validator(schema(name)).validate(json.loads(json.dumps(value)))


@pytest.mark.parametrize(("name", "value"), OUTPUTS)
def test_schemas_refuse_another_version_and_unknown_keys(name, value):
    validator = Draft202012Validator(schema(name))

    assert not validator.is_valid({**value, "version": 2})
    assert not validator.is_valid({**value, "more": 1})


def test_an_answer_must_be_there_in_its_mode_only():
    validator = Draft202012Validator(schema("ask"))

    assert not validator.is_valid({**rendering.answer_json(ANSWER), "answer": None})
    assert not validator.is_valid({**rendering.answer_json(NOTHING), "answer": "text"})
