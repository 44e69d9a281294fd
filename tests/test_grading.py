from __future__ import annotations

from dataclasses import replace

import pytest

from askcode.fusing import Found, fuse
from askcode.grading import FLOOR, Signs, is_surely_known, read_signs
from askcode.records import Description, QuestionAnswer
from askcode.wording import read_words
from tests.ranking import candidate


def signs(question, found, size=100):
    return read_signs(read_words(question), found, fuse(question, [found]), size=size)


def texts(*of_chunks):
    return Found(text=[candidate(f"{n}.py", text) for n, text in enumerate(of_chunks)])


def test_a_word_that_stands_here_more_often_than_elsewhere_counts_for_the_question():
    rare_here = signs("what does blueprint do", texts(*["x = 1"] * 9, "blueprint"))
    common_here = signs("what does blueprint do", texts(*["a blueprint"] * 10))
    common_everywhere = signs("what does value do", texts(*["a value"] * 10))

    assert rare_here.excess < common_here.excess
    assert common_everywhere.excess < common_here.excess


def test_an_ordinary_word_that_is_absent_counts_the_more_the_more_was_searched():
    few = signs("where is the value", texts("x = 1"), size=1)
    many = signs("where is the value", texts(*["x = 1"] * 100), size=5000)

    assert many.excess < few.excess < 0


def test_forms_of_a_word_are_the_same_word():
    for asked, there in [("stored sessions", "session_store"), ("queries", "parseQuery()")]:
        assert signs(f"how are {asked}", texts(there)).covered > 0


def test_what_the_best_hits_have_counts_by_how_rare_it_is():
    one = signs("value of the blueprint", texts("value"))
    other = signs("value of the blueprint", texts("blueprint"))
    both = signs("value of the blueprint", texts("value of a blueprint"))

    assert (
        0 < one.covered < other.covered < both.covered == pytest.approx(one.covered + other.covered)
    )


def test_questions_that_a_model_wrote_for_a_chunk_are_read_as_well():
    asked = QuestionAnswer("Where is user input validated?", "In check().")
    found = replace(candidate("a.py", "def check(x): ..."), description=Description((asked,)))

    read = signs("how is input validated", Found(text=[found]))

    assert read.covered > signs("how is input validated", texts("def check(x): ...")).covered


def test_without_a_search_for_words_the_similar_chunks_are_read():
    assert signs("blueprint", Found(vector=[candidate("a.py", "blueprint")])).excess > 0


LIKELY = Signs(length=1.5, excess=1.0, covered=8.0, unknown_names=0.0)


@pytest.mark.parametrize(
    "change", [{"length": 4.0}, {"excess": -1.0}, {"covered": 1.0}, {"unknown_names": 1.0}]
)
def test_each_sign_against_it_lowers_the_chance(change):
    assert 0 < replace(LIKELY, **change).chance < LIKELY.chance < 1


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("warum ist `max_bytes` so klein", True),
        ("what is maxBytes", True),
        ("what is minBytes", False),
        ("how large may it be", False),
        ("`id`", False),
        ("`request`", False),
    ],
)
def test_a_name_that_is_no_common_word_is_known_in_any_convention(question, known):
    found = Found(text=[candidate("a.py", "MAX_BYTES = 1000  # id of the request")])

    assert is_surely_known(read_words(question), found, ()) is known


def test_nothing_found_has_little_chance():
    assert signs("anything at all", Found(), size=1000).chance < FLOOR / 2


@pytest.mark.parametrize(
    ("text", "known"),
    [("def parse_option(): ...", True), ("def parse_value(): ...", False), ("option", False)],
)
def test_a_hit_with_all_the_words_is_enough_however_common_they_are(text, known):
    found = texts("x = 1", text)
    words = read_words("how are options parsed")

    assert is_surely_known(words, found, fuse("how are options parsed", [found])) is known
