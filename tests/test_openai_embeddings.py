import base64
import json
from contextlib import closing, contextmanager

import numpy as np
import pytest

from askcode.adapters.openai_embeddings import OpenAIEmbeddings
from askcode.errors import EmbedderError
from askcode.providers import Endpoint
from tests.scripted_server import MODES, Drop, Fail, ScriptedServer


def vector_of(text):
    """Give each text its own direction, so that mixed up places are seen."""
    return [float(len(text)), float(text.count("a")), 1.0]


def reply(items):
    return Fail(200, body=json.dumps({"object": "list", "data": items, "model": "m"}))


def item(index, vector):
    return {"object": "embedding", "index": index, "embedding": vector}


def well(request):
    texts = request.body["input"]
    return reply([item(place, vector_of(text)) for place, text in enumerate(texts)][::-1])


@contextmanager
def served(script=well, **more):
    """Yield an embedder behind a scripted endpoint, and the requests it makes."""
    with ScriptedServer(embedding_script=script) as server:
        endpoint = server.endpoint(more.pop("model", "embedding-m"))
        embedder = OpenAIEmbeddings(endpoint, timeout_s=5, sleep=lambda _: None, **more)
        with closing(embedder):
            yield embedder, server.embedding_requests


def unit(vector):
    return np.array(vector) / np.linalg.norm(vector)


def test_vectors_are_put_in_the_order_of_the_texts():
    texts = ["a" * number + "b" * (number % 5) for number in range(1, 150)]
    with served() as (embedder, requests):
        vectors = embedder.embed_passages(texts)

    expected = np.array([unit(vector_of(text)) for text in texts])
    assert vectors == pytest.approx(expected, abs=1e-6)
    assert vectors.dtype == np.float32
    assert [len(one.body["input"]) for one in requests] == [1, 64, 64, 21]


def test_the_identity_names_endpoint_model_and_prefixes():
    with ScriptedServer() as server:
        found = []
        for model, prefix in (("m", None), ("m", None), ("other", None), ("m", "q: ")):
            with closing(OpenAIEmbeddings(server.endpoint(model), query_prefix=prefix)) as one:
                found.append(one.identity)

    assert (found[0].name, found[0].dim) == ("openai:m", 8)
    assert found[0] == found[1]
    assert len({identity.digest for identity in found}) == 3


def test_prefixes_are_sent():
    with served(model="nomic-embed-text") as (embedder, requests):
        embedder.embed_queries(["one"])
        embedder.embed_passages(["two"])

    assert [one.body["input"] for one in requests[1:]] == [
        ["search_query: one"],
        ["search_document: two"],
    ]


def test_blank_texts_are_rows_of_zeros_and_not_sent():
    with served() as (embedder, requests):
        vectors = embedder.embed_passages(["", "ab", " \n"])

    assert [bool(row.any()) for row in vectors] == [False, True, False]
    assert requests[1].body["input"] == ["ab"]


def test_base64_is_read_too():
    data = base64.b64encode(np.array([3, 4], "<f4").tobytes()).decode()
    with served(lambda _: reply([item(0, data)])) as (embedder, _):
        (vector,) = embedder.embed_queries(["x"])

    assert vector == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("fault", [Fail(429), Fail(500), Fail(503, body="<html>"), Drop()])
def test_failures_that_pass_are_tried_again(fault):
    def script(request):
        return fault if request.number <= 2 else well(request)

    with served(script) as (embedder, _):
        assert embedder.embed_queries(["ab"]).shape == (1, 3)


def test_a_failure_that_stays_is_told():
    with (
        served(MODES["500"]) as (embedder, requests),
        pytest.raises(EmbedderError) as caught,
    ):
        embedder.embed_queries(["ab"])

    assert caught.value.exit_code == 4
    assert len(requests) == 5


@pytest.mark.parametrize("fault", ["401", "404", "nomodel", "quota"])
def test_a_failure_that_cannot_pass_is_told_at_once(fault):
    with (
        served(MODES[fault]) as (embedder, requests),
        pytest.raises(EmbedderError) as caught,
    ):
        embedder.embed_queries(["ab"])

    assert len(requests) == 1
    assert caught.value.hint


def test_nobody_there_is_told():
    endpoint = Endpoint("http://127.0.0.1:9/v1", "key", "m")

    with (
        closing(OpenAIEmbeddings(endpoint, sleep=lambda _: None)) as embedder,
        pytest.raises(EmbedderError, match=r"nobody answers at http://127\.0\.0\.1:9/v1"),
    ):
        embedder.embed_queries(["ab"])


def test_a_text_over_the_limit_goes_in_halves():
    def script(request):
        if sum(map(len, request.body["input"])) > 40:
            return MODES["ctx"](request)
        return well(request)

    with served(script) as (embedder, _):
        vectors = embedder.embed_passages(["ab" * 30, "ab", "b" * 35])

    assert vectors[0] == pytest.approx(unit(vector_of("ab" * 15)), abs=1e-6)
    assert vectors[1] == pytest.approx(unit(vector_of("ab")), abs=1e-6)
    assert vectors[2] == pytest.approx(unit(vector_of("b" * 35)), abs=1e-6)


BAD_BODIES = [
    "{",
    "[]",
    "{}",
    json.dumps({"data": None}),
    json.dumps({"data": []}),
    json.dumps({"data": [item(0, None)]}),
    json.dumps({"data": [item(0, [])]}),
    json.dumps({"data": [item(0, ["x"])]}),
    json.dumps({"data": [item(1, [1.0])]}),
    json.dumps({"data": [item(0, [float("nan"), 1.0])]}),
    json.dumps({"data": [item(0, [1.0]), item(1, [1.0])]}),
    json.dumps({"data": ["x"]}),
]


@pytest.mark.parametrize("body", BAD_BODIES)
def test_a_reply_without_usable_vectors_is_told(body):
    with (
        served(lambda _: Fail(200, body=body)) as (embedder, _),
        pytest.raises(EmbedderError, match="holds no embeddings"),
    ):
        embedder.embed_queries(["ab"])


def test_vectors_of_another_length_are_refused():
    def script(request):
        return reply([item(0, [1.0] * (request.number + 1))])

    with (
        served(script) as (embedder, _),
        pytest.raises(EmbedderError, match="vectors of 3 numbers after some of 2"),
    ):
        embedder.embed_queries(["ab"])


def test_tokens_are_counted_without_a_call():
    with served() as (embedder, requests):
        assert embedder.count_tokens(["hello world", ""]) == [2, 0]

    assert requests == []
