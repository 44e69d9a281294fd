"""Replies of the language model: strict about content, tolerant of form."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.parsing_notes import parse_note, parse_searches
from askcode.parsing_replies import parse_pairs, parse_pieces
from askcode.records import QuestionAnswer, Reply, Usage

TWO = (
    QuestionAnswer("What does this chunk do?", "It returns a value."),
    QuestionAnswer("When does it run?", "When it is called."),
)
GOOD = (
    "Q1: What does this chunk do?\nA1: It returns a value.\n"
    "Q2: When does it run?\nA2: When it is called."
)
OBJECTS = [{"question": pair.question, "answer": pair.answer} for pair in TWO]

FORMS = {
    "plain": GOOD,
    "windows line ends": GOOD.replace("\n", "\r\n"),
    "blank lines": GOOD.replace("\n", "\n\n"),
    "fenced": f"```text\n{GOOD}\n```",
    "tilde fence": f"~~~\n{GOOD}\n~~~",
    "prose around": f"Sure! Here you go:\n{GOOD}\nHope this helps.",
    "prose far around": f"Sure! Here you go:\n\n{GOOD}\n\nThe code is well written.\nAsk for more!",
    "empty entries": f"{GOOD}\nQ3:\nA3:\n",
    "no numbers": GOOD.replace("1", "").replace("2", ""),
    "lower case": GOOD.replace("Q", "q").replace("A1", "a1").replace("A2", "a2"),
    "dots": GOOD.replace("1:", "1.").replace("2:", "2."),
    "parentheses": GOOD.replace("1:", "1)").replace("2:", "2)"),
    "words": GOOD.replace("Q", "Question ").replace("A", "Answer "),
    "words without numbers": GOOD.replace("Q1", "Question")
    .replace("Q2", "Question")
    .replace("A1", "Answer")
    .replace("A2", "Answer"),
    "bold labels": "**Q1:** What does this chunk do?\n**A1:** It returns a value.\n\n"
    "**Q2:** When does it run?\n**A2:** When it is called.",
    "bold outside": "**Q1**: What does this chunk do?\n**A1**: It returns a value.\n"
    "**Q2**: When does it run?\n**A2**: When it is called.",
    "bold questions": "**Q1: What does this chunk do?**\nA1: It returns a value.\n"
    "**Q2: When does it run?**\nA2: When it is called.",
    "bold questions without answer labels": "**Q1: What does this chunk do?**\n"
    "It returns a value.\n\n**Q2: When does it run?**\nWhen it is called.",
    "headings": "### Q1: What does this chunk do?\n\nA1: It returns a value.\n\n"
    "### Q2: When does it run?\n\nA2: When it is called.",
    "headings apart": "### Question 1\nWhat does this chunk do?\n"
    "### Answer 1\nIt returns a value.\n"
    "### Question 2\nWhen does it run?\n### Answer 2\nWhen it is called.",
    "bullets": "- Q1: What does this chunk do?\n- A1: It returns a value.\n"
    "- Q2: When does it run?\n- A2: When it is called.",
    "nested bullets": "* Q: What does this chunk do?\n  * A: It returns a value.\n"
    "* Q: When does it run?\n  * A: When it is called.",
    "quoted": "> Q1: What does this chunk do?\n> A1: It returns a value.\n"
    "> Q2: When does it run?\n> A2: When it is called.",
    "numbered labels": "1. Q: What does this chunk do?\n   A: It returns a value.\n"
    "2. Q: When does it run?\n   A: When it is called.",
    "numbered questions": "1. What does this chunk do?\n   It returns a value.\n"
    "2. When does it run?\n   When it is called.",
    "numbered bold questions": "1. **What does this chunk do?**\n   - It returns a value.\n\n"
    "2. **When does it run?**\n   - When it is called.",
    "numbered questions, labelled answers": "1. What does this chunk do?\nA: It returns a value.\n"
    "2. When does it run?\nA: When it is called.",
    "one line each": "Q1: What does this chunk do? A1: It returns a value.\n"
    "Q2: When does it run? A2: When it is called.",
    "all on one line": GOOD.replace("\n", " "),
    "full-width colons": GOOD.replace(":", "："),
    "quotation marks": 'Q1: "What does this chunk do?"\nA1: "It returns a value."\n'
    'Q2: "When does it run?"\nA2: "When it is called."',
    "tags": "<question>What does this chunk do?</question>\n<answer>It returns a value.</answer>\n"
    "<question>When does it run?</question><answer>When it is called.</answer>",
    "thoughts": f"<think>\nQ1: Is it this?\nA1: No.\n</think>\n\n{GOOD}",
    "thoughts without a beginning": f"Q1: Is it this?\nA1: No.\n</think>\n{GOOD}",
    "json": json.dumps(OBJECTS),
    "json, indented and fenced": f"```json\n{json.dumps(OBJECTS, indent=2)}\n```",
    "json after prose": f"Here you go:\n{json.dumps(OBJECTS)}\nHope this helps.",
    "json under a key": json.dumps({"questions": OBJECTS}),
    "json lines": "\n".join(json.dumps(entry) for entry in OBJECTS),
    "json, short keys": json.dumps([{"q": pair.question, "a": pair.answer} for pair in TWO]),
    "json, numbered keys": json.dumps(
        {"Q1": TWO[0].question, "A1": TWO[0].answer, "Q2": TWO[1].question, "A2": TWO[1].answer}
    ),
    "json, questions as keys": json.dumps({pair.question: pair.answer for pair in TWO}),
    "json, lists of two": json.dumps([[pair.question, pair.answer] for pair in TWO]),
    "yaml": '- question: "What does this chunk do?"\n  answer: "It returns a value."\n'
    '- question: "When does it run?"\n  answer: "When it is called."',
    "repeated": f"{GOOD}\nQ3: When does it run\nA3: Again.",
}


def reply(text: str, finish_reason: str = "stop") -> Reply:
    return Reply(text, Usage(1, 1, 1), finish_reason)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_form_gives_the_same_pairs(form: str) -> None:
    assert parse_pairs(reply(FORMS[form]), count=5) == TWO


UNUSABLE = {
    "empty": "",
    "blank": " \n\n ",
    "prose": "I am sorry, but I cannot help with that.",
    "labels without text": "Q1:\nA1: 7\nx\nQ2: \nA2:",
    "the form itself": "Q1: ...\nA1: ...",
    "placeholders": "Q1: <question>\nA1: <answer>\nQ2: [question]\nA2: [answer]",
    "questions alone": "Q1: What is it?\nQ2: Why?",
    "answers alone": "A1: It is.\nA2: It was.",
    "only thoughts": "<think>Q1: What is it?\nA1: This",
    "empty json": '[{"question": "", "answer": "x"}, {"question": "What?", "answer": null}]',
    "numbers": "[1, 2, 3]",
    "echoed code": "def area(w, h):\n    return w * h\n",
}


@pytest.mark.parametrize("case", sorted(UNUSABLE))
def test_a_reply_without_a_whole_pair_gives_none(case: str) -> None:
    assert parse_pairs(reply(UNUSABLE[case]), count=3) == ()


def test_more_pairs_than_asked_for_are_left_out() -> None:
    assert parse_pairs(reply(GOOD), count=1) == TWO[:1]


def test_an_answer_may_take_several_lines() -> None:
    text = (
        "Q1: What is checked?\nA1: Two things:\n- the size\n- the name\n\n"
        "Q2: And then?\nA2: It goes\non."
    )

    assert parse_pairs(reply(text), count=3) == (
        QuestionAnswer("What is checked?", "Two things: - the size - the name"),
        QuestionAnswer("And then?", "It goes on."),
    )


def test_code_in_an_answer_stays_as_it_is() -> None:
    text = "Q1: What does `__init__` do?\nA1: `_load` takes `**kwargs` and calls `a_b(*x)`."

    assert parse_pairs(reply(text), count=3) == (
        QuestionAnswer("What does `__init__` do?", "`_load` takes `**kwargs` and calls `a_b(*x)`."),
    )


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_the_last_pair_of_a_cut_reply_is_left_out_when_it_is_not_whole(reason: str) -> None:
    assert parse_pairs(reply(GOOD[:-5], reason), count=3) == TWO[:1]
    assert parse_pairs(reply(GOOD[: len(GOOD) // 2], reason), count=3) == ()
    assert parse_pairs(reply(GOOD[: GOOD.index("A2")], reason), count=3) == TWO[:1]
    assert parse_pairs(reply(GOOD, reason), count=3) == TWO


def test_whole_objects_of_a_cut_json_list_are_kept() -> None:
    whole = json.dumps(OBJECTS)

    assert parse_pairs(reply(whole[:-10], "length"), count=3) == TWO[:1]


def test_control_characters_are_removed() -> None:
    text = "Q1: What \x1b[31mis\x1b[0m\x07 it?\x00\nA1: \x1b]0;owned\x07Do\u202ene.\x9b31m\x85"

    assert parse_pairs(reply(text), count=3) == (QuestionAnswer("What is it?", "Done."),)
    assert parse_pairs(reply("\x1b[2J\x1b]0;owned\x07done \x9b31m\u202e"), count=3) == ()


def test_absurdly_long_texts_are_cut_between_words() -> None:
    text = f"Q1: {'why ' * 500}?\nA1: {'so ' * 5000}."

    (pair,) = parse_pairs(reply(text), count=3)

    assert (len(pair.question), pair.question[-5:]) == (296, " why…")
    assert (len(pair.answer), pair.answer[-4:]) == (999, " so…")


@pytest.mark.parametrize(
    "text",
    [
        "*" * 60_000,
        " " * 60_000 + "x",
        "[" * 60_000,
        "{" * 60_000,
        "." * 60_000 + "x",
        "Q1: " + " *" * 30_000,
        "Q1: x?\nA1: " + "Q1 " * 20_000,
        "<q" * 30_000,
        "#" * 60_000 + "1",
        "Q" + " " * 60_000,
        "Q1: a?\n" * 9_000,
        '{"q": ' * 10_000,
        "\n" * 60_000,
        "? A " * 15_000,
        "`" * 60_000,
        "-" * 60_000,
    ],
)
def test_no_reply_takes_long_to_read(text: str) -> None:
    start = time.perf_counter()

    parse_pairs(reply(text), count=3)
    parse_pieces(reply(text), pieces=3, count=3)
    parse_note("summary", reply(text))
    parse_note("keywords", reply(text))
    parse_searches(reply(text), question="x", count=5)

    assert time.perf_counter() - start < 5


@given(st.text(), st.sampled_from(["stop", "length"]))
def test_no_reply_is_an_error(text: str, finish_reason: str) -> None:
    for prefix in ("", "Q1: ", "[{", "## Piece 1\nQ: a?\nA: "):
        answer = reply(prefix + text, finish_reason)
        parse_pieces(answer, pieces=2, count=3)
        parse_searches(answer, question="x", count=5)
        for kind in ("summary", "title", "keywords"):
            parse_note(kind, answer)
        for pair in parse_pairs(answer, count=3):
            assert pair.question.strip() == pair.question != ""
            assert pair.answer.strip() == pair.answer != ""


PIECES = f"## Piece 1\n{GOOD}\n\n## Piece 2\nQ1: What is the limit?\nA1: Three."
LIMIT = (QuestionAnswer("What is the limit?", "Three."),)


@pytest.mark.parametrize(
    "text",
    [
        PIECES,
        PIECES.replace("## Piece 1", "**Piece 1:**").replace("## Piece 2", "**Piece 2:**"),
        PIECES.replace("## ", ""),
        PIECES.replace("## Piece 1", "### Chunk #1 (area)").replace("## Piece 2", "### Chunk #2"),
        PIECES.replace("## Piece 1", "[Piece 1]").replace("## Piece 2", "[Piece 2]"),
        PIECES.replace("## Piece 2", "---\nPiece 2: LIMIT"),
        f"Sure:\n\n```\n{PIECES}\n```\nHope this helps.",
        f"{PIECES}\n## Piece 3\nQ1: What?\nA1: No.\n## Piece 2\nQ1: Again?\nA1: No.",
    ],
)
def test_each_piece_gets_its_own_pairs(text: str) -> None:
    assert parse_pieces(reply(text), pieces=2, count=3) == [TWO, LIMIT]


def test_a_missing_or_malformed_piece_is_empty_and_the_others_stay() -> None:
    assert parse_pieces(reply(GOOD), pieces=2, count=3) == [(), ()]
    assert parse_pieces(reply(PIECES.replace("Piece 1", "Piece 7")), pieces=2, count=3) == [
        (),
        LIMIT,
    ]
    assert parse_pieces(reply(PIECES.replace("A1: Three.", "")), pieces=2, count=3) == [TWO, ()]
    assert parse_pieces(reply(PIECES[:-3], "length"), pieces=2, count=3) == [TWO, ()]


def test_an_answer_that_speaks_of_a_part_does_not_end_its_piece() -> None:
    text = PIECES.replace("It returns a value.", "It returns\npart 2 of a value.")

    first, second = parse_pieces(reply(text), pieces=2, count=3)

    assert first[0].answer == "It returns part 2 of a value."
    assert second == LIMIT


@pytest.mark.parametrize(
    ("kind", "text", "note"),
    [
        ("summary", "It adds.\nThen it returns.", "It adds. Then it returns."),
        ("summary", "**Summary:** It adds.", "It adds."),
        ("summary", "Sure! Here is a summary of the code:\n\nIt adds.\n\nLet me know!", "It adds."),
        ("summary", "```\nIt adds.\n```", "It adds."),
        ("summary", '{"summary": "It adds."}', "It adds."),
        ("summary", "<think>hm</think>It adds.", "It adds."),
        ("summary", "It \x1b[1madds.", "It adds."),
        ("summary", "Returns `{}` or [1, 2].", "Returns `{}` or [1, 2]."),
        ("title", "# Area of a rectangle", "Area of a rectangle"),
        ("title", '"Area of a rectangle"\n', "Area of a rectangle"),
        ("title", "Title: **Area of a rectangle**\nIt says what it is.", "Area of a rectangle"),
        ("keywords", "area, rectangle, Area, width", "area, rectangle, width"),
        ("keywords", "Keywords: area, rectangle.", "area, rectangle"),
        ("keywords", "- area\n- rectangle\n- `a_b`", "area, rectangle, a_b"),
        ("keywords", "1. area\n2. rectangle", "area, rectangle"),
        ("keywords", '["area", "rectangle"]', "area, rectangle"),
        ("keywords", '{"keywords": ["area", "rectangle"]}', "area, rectangle"),
        ("summary", "", ""),
        ("title", " \n ", ""),
        ("keywords", ", ,\n...", ""),
        ("summary", "N/A", ""),
    ],
)
def test_notes_are_normalised(kind: str, text: str, note: str) -> None:
    assert parse_note(kind, reply(text)) == note


def test_a_cut_summary_ends_with_its_last_whole_sentence() -> None:
    assert parse_note("summary", reply("It adds. Then it ret", "length")) == "It adds."


def test_long_notes_are_cut() -> None:
    assert len(parse_note("title", reply("word " * 100))) <= 120
    assert len(parse_note("summary", reply("word " * 1000))) <= 1200
    assert parse_note("keywords", reply(", ".join(f"k{n}" for n in range(99)))).count(",") == 19


SEARCHES = ("How is the size read?", "Where is area called?")


@pytest.mark.parametrize(
    "text",
    [
        "How is the size read?\nWhere is area called?",
        "1. How is the size read?\n2. Where is area called?",
        "- How is the size read?\n* Where is area called?",
        "Q1: How is the size read?\nQ2: Where is area called?",
        "Here are the questions:\n\n1. **How is the size read?**\n2. **Where is area called?**",
        "Sure!\nHow is the size read?\n\nWhere is area called?\nHope this helps.",
        '["How is the size read?", "Where is area called?"]',
        '```json\n{"questions": ["How is the size read?", "Where is area called?"]}\n```',
        "How is the size read?\nHOW IS THE SIZE READ\nWhat is area?\nWhere is area called?\n...",
        '"How is the size read?"\n"Where is area called?"',
    ],
)
def test_search_questions_are_read_from_any_list(text: str) -> None:
    assert parse_searches(reply(text), question="What is area?", count=5) == SEARCHES


def test_search_questions_are_limited_in_number_and_size() -> None:
    text = "\n".join(f"{n}. {'word ' * 100}{n}?" for n in range(9))

    searches = parse_searches(reply(text), question="x", count=3)

    assert len(searches) == 1  # the same after the cut
    assert len(searches[0]) <= 300
    assert parse_searches(reply("1. a?\n2. b?\n3. c?"), question="x", count=2) == ("a?", "b?")


@pytest.mark.parametrize("text", ["", "...", "What is area?", "<think>How is it?"])
def test_a_reply_without_a_new_question_gives_none(text: str) -> None:
    assert parse_searches(reply(text), question="What is area?", count=5) == ()
