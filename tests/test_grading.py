from __future__ import annotations

import math
from dataclasses import replace

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
    assert 0 < read.covered < 1
    assert 0 < read.absent < 1
    assert read.size == 0.0


LIKELY = Signs(
    similarity=0.5, length=1.5, unknown_names=0.0, covered=0.8, absent=0.0, size=math.log(50)
)


@pytest.mark.parametrize(
    "change",
    [
        {"similarity": 0.1},
        {"unknown_names": 1.0},
        {"covered": 0.2},
        {"absent": 0.5},
        {"size": math.log(200)},
    ],
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
    ],
)
def test_a_name_is_known_in_any_convention(question, known):
    found = Found(text=[candidate("a.py", "MAX_BYTES = 1000  # id")])

    assert knows_a_name(read_words(question), found) is known


def test_nothing_found_has_little_chance():
    assert signs("anything at all", Found()).chance < 0.01
