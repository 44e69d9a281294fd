"""A real model behind a real llama.cpp server, asked through the real client."""

import pytest

from askcode.adapters.openai_chat import OpenAIChat
from askcode.errors import ContextTooLong
from askcode.providers import Endpoint
from askcode.records import Prompt
from tests.llama_server import llama_server
from tests.recording_proxy import recording_proxy

pytestmark = pytest.mark.slow

PROMPT = Prompt("You are terse.", "What is the capital of France?", max_output_tokens=30)


@pytest.fixture(scope="module")
def server_url():
    with llama_server() as url:
        yield url


@pytest.fixture
def proxy(server_url):
    with recording_proxy(server_url) as recorded:
        yield recorded


@pytest.fixture
def model(proxy):
    model = OpenAIChat(Endpoint(proxy.base_url, "", "default", "llamacpp"))
    yield model
    model.close()


def test_a_reply_and_its_usage_are_the_servers(model, proxy):
    reply = model.complete(PROMPT)

    assert reply.text == proxy.exchanges[0].text
    assert reply.text.strip()
    assert reply.usage.calls == len(proxy.exchanges) == 1
    assert reply.usage.input_tokens > 10
    assert 1 < reply.usage.output_tokens <= 30


def test_a_streamed_reply_comes_in_pieces_and_is_what_the_server_sent(model, proxy):
    pieces = []

    reply = model.stream(PROMPT, on_text=pieces.append)

    assert "".join(pieces) == reply.text == proxy.exchanges[0].text
    assert len(pieces) > 1
    assert proxy.exchanges[0].is_streamed
    assert 1 < reply.usage.output_tokens <= 30


def test_a_request_that_does_not_fit_is_told_apart(model, proxy):
    with pytest.raises(ContextTooLong, match="tokens"):
        model.complete(Prompt("", "word " * 6000))

    assert len(proxy.exchanges) == 1
