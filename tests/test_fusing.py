from __future__ import annotations

import pytest

from askcode.fusing import Found, Weights, fuse
from tests.ranking import candidate

PLAIN = Weights(symbol=0, file_name=0, coherence=0, test=1, auxiliary=1, lifted=1)


def order(question, *, text=(), vector=(), weights=None):
    hits = fuse(question, [Found(vector, text)], *([weights] if weights else []))
    return [hit.chunk.path for hit in hits]


def test_what_both_searches_find_comes_first():
    a, b, c = candidate("a.py"), candidate("b.py"), candidate("c.py")

    hits = fuse("q", [Found(vector=[a, b], text=[c, b])], PLAIN)

    assert [hit.chunk.path for hit in hits] == ["b.py", "a.py", "c.py"]
    assert (hits[0].vector_rank, hits[0].text_rank) == (2, 2)
    assert (hits[1].vector_rank, hits[1].text_rank) == (1, None)
    assert hits[1].shares == {"vector": 0.5}


def test_a_lead_in_score_counts_beside_the_rank():
    """By ranks alone both would have the same."""
    near = [candidate("a.py", score=0.9), candidate("b.py", score=0.2)]
    matched = [candidate("b.py", score=10.0), candidate("a.py", score=9.9)]

    hits = fuse("q", [Found(near, matched)], PLAIN)

    assert [hit.chunk.path for hit in hits] == ["a.py", "b.py"]
    assert hits[1].shares["vector"] < hits[0].shares["vector"] / 2
    assert hits[0].shares["text"] > 0.48


def test_scores_that_are_no_likeness_count_by_rank_alone():
    opposite = [candidate("a.py", score=-0.1), candidate("b.py", score=-0.9)]

    hits = fuse("q", [Found(vector=opposite)], PLAIN)

    assert [hit.score for hit in hits] == pytest.approx([1.0, 61 / 62])


def test_the_shares_add_up_to_the_score():
    found = Found(
        [candidate("tests/test_retry.py", "def test_retry(): ...", definitions=["test_retry"])],
        [candidate("src/retry.py", "def retry(): ...", definitions=["retry"])],
    )

    for hit in fuse("how does retry() back off", [found]):
        assert sum(hit.shares.values()) == pytest.approx(hit.score)


def test_a_named_symbol_leads_to_its_definition():
    use = candidate("a.py", "parse_url(x)")
    definition = candidate("b.py", "def parse_url(x): ...", definitions=["Url.parse_url"])

    assert order("where is parse_url used", text=[use, definition]) == ["b.py", "a.py"]
    assert order("where is parseUrl used", text=[use, definition]) == ["b.py", "a.py"]


def test_a_name_that_many_files_define_says_less():
    many = [candidate(f"m{i}.py", "def run", definitions=["run"]) for i in range(9)]
    one = [candidate("one.py", "def go", definitions=["go"])]

    hits = fuse("`go` and `run`", [Found(text=[*many, *one])])

    shares = {hit.chunk.path: hit.shares["symbol"] for hit in hits}
    assert shares["one.py"] == pytest.approx(0.8)
    assert shares["m0.py"] == pytest.approx(0.8 / 3)


def test_the_file_that_is_called_like_the_question_wins():
    other, named = candidate("src/app.py", "session"), candidate("src/sessions.py", "session")

    assert order("session handling", text=[other, named])[0] == "src/sessions.py"


def test_tests_come_after_what_they_test():
    test = candidate("tests/test_http.py", "retry")
    source = candidate("src/http.py", "retry")

    assert order("retry of failed calls", text=[test, source]) == [
        "src/http.py",
        "tests/test_http.py",
    ]


def test_a_question_about_tests_sees_tests():
    test = candidate("tests/test_http.py", "retry")
    others = [candidate(f"src/m{i}.py", "retry") for i in range(40)]

    assert order("which tests cover http retries", text=[test, *others])[0] == "tests/test_http.py"


def test_several_chunks_of_one_file_support_each_other():
    alone = candidate("a.py")
    together = [candidate("b.py", start=10 * i + 1) for i in range(1, 5)]

    assert order("anything", text=[alone, *together])[0] == "b.py"


def test_subquestions_count_as_much_as_their_weight():
    own, other = candidate("own.py"), candidate("other.py")

    hits = fuse("q", [Found(text=[own]), Found(text=[other], weight=0.5)], PLAIN)

    assert [hit.chunk.path for hit in hits] == ["own.py", "other.py"]
    assert hits[0].score == pytest.approx(2 / 3)


def test_nothing_found_is_nothing():
    assert fuse("q", []) == []
    assert fuse("q", [Found()]) == []
