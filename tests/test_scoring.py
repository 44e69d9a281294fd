from __future__ import annotations

import math

import pytest

from askcode.scoring import interval, score_files
from tests.eval.scoring import percentile


def test_the_right_file_first_is_all_there_is_to_gain():
    score = score_files(["a.py", "b.py"], ["a.py"])

    assert (score.ndcg, score.recall, score.reciprocal_rank, score.first) == (1, 1, 1, 1)


def test_a_file_counts_once_at_its_first_place():
    score = score_files(["b.py", "b.py", "a.py"], ["a.py"])

    assert score.ndcg == pytest.approx(1 / math.log2(3))
    assert score.reciprocal_rank == 0.5
    assert score.first == 0.0


def test_what_comes_after_the_tenth_file_gains_nothing():
    ranked = [f"{i}.py" for i in range(10)]

    assert score_files([*ranked, "a.py"], ["a.py"]).ndcg == 0.0
    assert score_files([*ranked, "a.py"], ["a.py"]).reciprocal_rank == pytest.approx(1 / 11)


def test_two_right_files_share_the_gain():
    score = score_files(["a.py", "x.py", "b.py"], ["a.py", "b.py"])

    assert score.ndcg == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    assert score.recall == 1.0


def test_intervals_and_percentiles():
    low, high = interval([0.0, 1.0] * 50)

    assert 0.35 < low < 0.5 < high < 0.65
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert math.isnan(percentile([], 0.5))
