from __future__ import annotations

import pytest

from askcode.records import Description, Hit
from askcode.reranking import RERANKED, rerank
from tests.ranking import chunk


class ByLength:
    """Judge the longest text best."""

    def score(self, query, texts):
        return [len(text) / 1000 for text in texts]


def hits(*texts):
    return [
        Hit(chunk(f"f{i:03}.py", text), Description(), "", 1 - i / 1000, shares={"text": 1.0})
        for i, text in enumerate(texts)
    ]


def test_what_the_model_prefers_rises():
    found = rerank("q", hits("a", "bb", "cccc"), ByLength())

    assert [hit.chunk.path for hit in found] == ["f002.py", "f001.py", "f000.py"]
    assert found[0].shares["rerank"] == 1.0
    assert found[0].score == pytest.approx(0.998 + 1.0)


def test_only_the_best_are_read_and_the_rest_stay_below():
    found = rerank("q", hits(*["x"] * RERANKED, "y" * 100), ByLength())

    assert "rerank" not in found[-1].shares
    assert found[-1].chunk.path == f"f{RERANKED:03}.py"
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
