import os

import numpy as np
import pytest

from askcode.adapters.cross_encoder import FastembedReranker
from askcode.errors import EmbedderError, UsageError
from tests.tiny_onnx import write_reranking_model


@pytest.fixture
def folder(tmp_path):
    return write_reranking_model(tmp_path / "model", ["good", "bad", "why"], [40.0, -40.0, 0.0])


def sigmoid(number):
    return 1 / (1 + np.exp(-number))


def test_each_text_is_scored_with_the_query(folder, tmp_path):
    reranker = FastembedReranker(folder, tmp_path)

    # the mean over seven tokens: [CLS] why [SEP], two words, [SEP]; padded to the longest
    scores = reranker.score("why", ["good good", "bad bad", "good bad"])

    assert scores == pytest.approx([sigmoid(80 / 6), sigmoid(-80 / 6), 0.5], abs=1e-6)


def test_many_texts_keep_their_places(folder, tmp_path):
    texts = ["good " * (number % 7) + "bad " * (number % 5) for number in range(60)]
    reranker = FastembedReranker(str(folder), tmp_path)

    scores = reranker.score("why", texts)

    for text, score in zip(texts, scores, strict=True):
        balance = text.count("good") - text.count("bad")
        assert (score > 0.5, score < 0.5) == (balance > 0, balance < 0)


def test_no_texts_are_no_scores(folder, tmp_path):
    assert FastembedReranker(folder, tmp_path).score("why", []) == []


def test_odd_texts_do_not_fail(folder, tmp_path):
    scores = FastembedReranker(folder, tmp_path).score("\ud800", ["", "\udfff", "good " * 5000])

    assert len(scores) == 3
    assert all(0 <= score <= 1 for score in scores)


def test_a_cut_model_is_named(folder, tmp_path):
    os.truncate(folder / "model.onnx", 60)

    with pytest.raises(EmbedderError, match=f"the model in {folder} cannot be used"):
        FastembedReranker(folder, tmp_path).score("why", ["good"])


def test_an_unknown_name_is_told(tmp_path):
    with pytest.raises(UsageError, match="no reranking model called no/such") as caught:
        FastembedReranker("no/such", tmp_path).score("why", ["good"])

    assert "Xenova/ms-marco-MiniLM-L-6-v2" in caught.value.hint
