from __future__ import annotations

import pytest

from askcode.records import Description, Hit
from askcode.spreading import spread
from tests.ranking import chunk


def hit(path, score, text, start=1):
    return Hit(chunk(path, text, start=start), Description(), "", score, shares={"text": score})


def test_one_file_does_not_take_all_places():
    hits = [hit("a.py", 1.0 - i / 100, f"a{i}", start=i + 1) for i in range(9)]
    hits.append(hit("b.py", 0.8, "b"))

    chosen = spread(hits, k=3, question="how does it work")

    assert [one.chunk.path for one in chosen] == ["a.py", "b.py", "a.py"]
    assert [one.score for one in chosen] == sorted((one.score for one in chosen), reverse=True)
    assert sum(chosen[2].shares.values()) == pytest.approx(chosen[2].score)


def test_a_file_that_the_question_names_is_shown_whole():
    hits = [hit("src/a.py", 1.0 - i / 100, f"a{i}", start=i + 1) for i in range(3)]
    hits.append(hit("b.py", 0.9, "b"))

    chosen = spread(hits, k=3, question="what does a.py do")

    assert [one.chunk.path for one in chosen] == ["src/a.py"] * 3


def test_copies_are_shown_once():
    text = "\n".join(f"line {i}" for i in range(20))
    changed = text.replace("line 7", "line seven")
    hits = [hit("a.py", 0.9, text), hit("copy/a.py", 0.8, changed), hit("b.py", 0.7, "other")]

    assert [one.chunk.path for one in spread(hits, k=3, question="q")] == ["a.py", "b.py"]
