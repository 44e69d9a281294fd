from __future__ import annotations

import pytest

from askcode.fusing import Found, fuse
from askcode.grading import Signs, knows_a_name, read_signs
from askcode.wording import read_words
from tests.ranking import candidate


def signs(question, found):
    return read_signs(read_words(question), found, fuse(question, [found]))


def test_the_signs_are_read_from_what_was_found():
    found = Found(
        vector=[candidate("a.py", "open the session store", score=0.5)],
        text=[candidate("a.py", "open the session store", score=3.0)],
    )

    read = signs("how does SessionStore open sessions", found)

    assert read.similarity == 0.5
    assert read.unknown_names == 1.0
    assert 0 < read.together < 1


def test_more_likeness_means_more_chance():
    unlike, like = Signs(0.1, 1.0, 0.0, 0.2), Signs(0.5, 1.0, 0.0, 0.8)

    assert 0 < unlike.chance < like.chance < 1


def test_a_name_that_is_nowhere_lowers_the_chance():
    assert Signs(0.4, 1.5, 1.0, 0.4).chance < Signs(0.4, 1.5, 0.0, 0.4).chance


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("warum ist `max_bytes` so klein", True),
        ("what is maxBytes", True),
        ("what is minBytes", False),
        ("how large may it be", False),
        ("`id`", False),
    ],
)
def test_a_name_is_known_in_any_convention(question, known):
    found = Found(text=[candidate("a.py", "MAX_BYTES = 1000  # id")])

    assert knows_a_name(read_words(question), found) is known


def test_nothing_found_has_little_chance():
    assert signs("anything at all", Found()).chance < 0.01
