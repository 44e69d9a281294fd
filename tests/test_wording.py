from __future__ import annotations

import pytest

from askcode.wording import last_names, name_share, read_words, weigh_words


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("where is maxBytes read", {"maxbytes"}),
        ("where is max_bytes read", {"maxbytes"}),
        ("what does HTTPServer do", {"httpserver"}),
        ("why does send() block", {"send"}),
        ("the `retry` option", {"retry"}),
        ("Session", {"session"}),
        ("How does the server retry", set()),
    ],
)
def test_names_are_known_by_their_form(question, names):
    assert read_words(question).identifiers == names


def test_the_words_of_a_file_name_count_by_rarity():
    weights = weigh_words(["session", "store"], ["store", "store", "session store", "store"])

    assert weights["session"] > weights["store"] > 0
    assert name_share(weights, "src/sessions.py") > name_share(weights, "src/store.py")


def test_forms_of_a_word_count_less_than_the_word():
    weights = {"route": 1.0}

    assert name_share(weights, "src/route.go") == 1.0
    assert name_share(weights, "src/router.go") == pytest.approx(0.55)
    assert name_share(weights, "src/main.go") == 0.0


def test_no_words_share_nothing():
    assert name_share({}, "src/main.go") == 0.0


def test_qualified_names_end_in_their_own():
    assert last_names(["Parser.parse_url", "A::B", "empty?"]) == {"parseurl", "b", "empty"}
