"""A real model behind a real llama.cpp server, asked through the real client."""

import pytest

from askcode.adapters.openai_chat import OpenAIChat
from askcode.errors import ContextTooLong
from askcode.providers import Endpoint
from askcode.records import Prompt
from tests.command_line import run_process, write
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


FILES = {
    "src/area.py": (
        "def area(width, height):\n"
        '    """Return the area of a rectangle in square metres."""\n'
        "    return width * height\n"
    ),
    "src/session.py": (
        "def expire(sessions, now):\n"
        '    """Drop sessions that were not used for 30 minutes."""\n'
        "    return [s for s in sessions if now - s.last_used < 1800]\n"
    ),
    "notes.md": "# Sessions\n\nA session ends after 30 minutes without use.\n",
}


def prompts_of(exchanges):
    return ["\n".join(m["content"] for m in each.body["messages"]) for each in exchanges]


def test_a_repository_is_indexed_with_questions_and_answers_one(proxy, tmp_path):
    write(tmp_path, FILES)
    env = {"OPENAI_BASE_URL": proxy.base_url, "ASKCODE_TIMEOUT": "250"}

    indexed = run_process("index", ".", "--json", "--questions", "1", cwd=tmp_path, env=env)
    asked_to_describe = list(proxy.exchanges)
    status = run_process("status", "--json", cwd=tmp_path, env=env).json
    asked = run_process("ask", "How is the area of a rectangle computed?", cwd=tmp_path, env=env)
    asked_to_answer = proxy.exchanges[len(asked_to_describe) :]

    # one whole reply for each file, and one more where a reply could not be read
    report = indexed.json
    assert indexed.code in (0, 5), indexed.err
    assert report["files"]["indexed"] == len(FILES)
    assert report["llm"]["calls"] == len(asked_to_describe)
    assert len(FILES) <= len(asked_to_describe) <= 2 * len(FILES)
    assert not any(each.is_streamed for each in asked_to_describe)
    described = prompts_of(asked_to_describe)
    assert {path for path in FILES if any(f"File: {path}" in text for text in described)} == set(
        FILES
    )
    assert status["questions"] > 0
    assert status["spent"]["calls"] == len(asked_to_describe)

    # one whole reply with further questions, one streamed answer
    assert asked.code == 0, asked.err
    assert [each.is_streamed for each in asked_to_answer] == [False, True]
    assert "def area" not in prompts_of(asked_to_answer)[0]
    assert "def area" in prompts_of(asked_to_answer)[1]
    answer, _, sources = asked.out.partition("\nSources:\n")
    assert answer.startswith(asked_to_answer[1].text.rstrip())
    listed = [line.removeprefix("  - ") for line in sources.strip("\n").split("\n")]
    assert listed[0] == "src/area.py"
    assert set(listed) <= set(FILES)
    assert len(listed) == len(set(listed))
