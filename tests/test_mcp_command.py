"""askcode mcp, through the client of the SDK and as a process."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters, stdio_client

from tests.bucket_server import BUCKET, CREDENTIALS, bucket_server
from tests.command_line import PROJECT, run_process, write
from tests.scripted_server import Say, ScriptedServer

FILES = {
    "shop/cart.py": "class Cart:\n    def total_price(self):\n        return self.prices\n",
    "mail.py": "def send_receipt(address):\n    return smtp.send(address)\n",
}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "repository"
    place.mkdir()
    write(place, FILES)
    return place


def index(folder, *arguments):
    assert run_process("index", "-q", *arguments, cwd=folder).code == 0


@asynccontextmanager
async def connected(folder, *arguments, command=None, **environment):
    words = command or [sys.executable, "-m", "askcode", "mcp", str(folder)]
    server = StdioServerParameters(
        command=words[0],
        args=[*words[1:], *arguments],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": str(PROJECT), **environment},
    )
    async with Client(stdio_client(server)) as client:
        yield client


def text_of(result):
    return result.content[0].text


@pytest.mark.slow
def test_the_tools_give_the_json_of_the_commands(folder):
    index(folder)
    expected = run_process("search", "total_price", "--json", cwd=folder).json

    async def talk():
        async with connected(folder) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            found = await client.call_tool("search", {"query": "total_price"})
            asked = await client.call_tool("ask", {"question": "what is total_price?"})
            status = await client.call_tool("status", {})
            only = {"query": "total_price", "path_glob": ["mail*"], "lang": ["py"], "top_k": 1}
            filtered = await client.call_tool("search", only)
            return tools, found, asked, status, filtered

    tools, found, asked, status, filtered = anyio.run(talk)

    assert list(tools) == ["search", "ask", "status"]
    assert found.structured_content == json.loads(text_of(found)) == expected
    assert asked.structured_content["mode"] == "excerpts"
    assert asked.structured_content["sources"][0] == "shop/cart.py"
    assert status.structured_content["files"] == 2
    assert [hit["path"] for hit in filtered.structured_content["hits"]] == ["mail.py"]
    for result, name in ((found, "search"), (asked, "ask"), (status, "status")):
        assert not result.is_error
        assert str(folder.parent) not in text_of(result)
        Draft202012Validator.check_schema(tools[name].output_schema)
        Draft202012Validator(tools[name].output_schema).validate(result.structured_content)


@pytest.mark.slow
def test_a_server_without_an_index_recovers_and_follows_what_others_store(folder):
    steps = []

    async def talk():
        async with connected(folder) as client:

            async def search(word):
                found = await client.call_tool("search", {"query": word, "mode": "text"})
                if found.is_error:
                    return text_of(found)
                return {hit["path"] for hit in found.structured_content["hits"]}

            steps.append(await search("send_receipt"))
            await anyio.to_thread.run_sync(index, folder)
            steps.append(await search("send_receipt"))
            write(folder, {"late.py": "def plugh():\n    return 1\n"})
            (folder / "mail.py").unlink()
            steps.append(await search("plugh"))
            await anyio.to_thread.run_sync(index, folder)
            steps.append(await search("plugh"))
            steps.append(await search("send_receipt"))
            write(folder, {"later.py": "def xyzzy():\n    return 2\n"})
            await anyio.to_thread.run_sync(index, folder, "--rebuild")
            steps.append(await search("xyzzy"))

    anyio.run(talk)

    missing, *found = steps
    assert missing == "there is no index in .askcode\nhint: make one with: askcode index"
    assert found == [{"mail.py"}, set(), {"late.py"}, set(), {"later.py"}]


@pytest.mark.slow
def test_an_index_of_several_repositories_is_served_with_their_names(tmp_path):
    write(tmp_path / "east", FILES)
    write(tmp_path / "west", {"shop/cart.py": "def total_price(cart):\n    return sum(cart)\n"})
    place = str(tmp_path / "index")
    indexed = run_process("index", "-q", "east", "west", "--index-dir", place, cwd=tmp_path)

    async def talk():
        async with connected(tmp_path, "--index-dir", place) as client:
            both = await client.call_tool("search", {"query": "total_price"})
            west = {"repo": ["w*"], "path_glob": ["shop/**"]}
            found = await client.call_tool("search", {"query": "total_price", **west})
            asked = await client.call_tool("ask", {"question": "what is total_price?", **west})
            status = await client.call_tool("status", {})
            unknown = await client.call_tool("search", {"query": "x", "repo": ["north"]})
            return both, found, asked, status, unknown

    both, found, asked, status, unknown = anyio.run(talk)

    assert indexed.code == 0
    assert {hit["path"] for hit in both.structured_content["hits"]} >= {
        "east:shop/cart.py",
        "west:shop/cart.py",
    }
    assert [hit["path"] for hit in found.structured_content["hits"]] == ["west:shop/cart.py"]
    assert asked.structured_content["sources"] == ["west:shop/cart.py"]
    shown = [each["name"] for each in status.structured_content["repositories"]]
    assert shown == ["east", "west"]
    assert str(tmp_path) not in text_of(status)
    assert (
        text_of(unknown) == "no repository of the index is called north\nhint: there are east, west"
    )


@pytest.mark.slow
def test_an_index_in_object_storage_is_served(folder):
    async def talk(**environment):
        async with connected(folder, **environment) as client:
            found = await client.call_tool("search", {"query": "total_price"})
            return found, await client.call_tool("status", {})

    with bucket_server() as endpoint, pytest.MonkeyPatch.context() as environment:
        place = f"s3://{BUCKET}/served"
        keys = {**CREDENTIALS, "AWS_ENDPOINT_URL": endpoint, "ASKCODE_INDEX_DIR": place}
        for name, value in keys.items():
            environment.setenv(name, value)
        index(folder)
        found, status = anyio.run(lambda: talk(**keys))

    assert found.structured_content["hits"][0]["path"] == "shop/cart.py"
    assert status.structured_content["files"] == 2
    assert status.structured_content["index_dir"] == place


WRONG = {
    "path filter '../x'": ("search", {"query": "x", "path_glob": ["../x"]}),
    "path filter '/etc/*'": ("search", {"query": "x", "path_glob": ["src/*", "/etc/*"]}),
    "path filter '!/etc/*'": ("ask", {"question": "x", "path_glob": ["!/etc/*"]}),
    "path filter 'a/../../b'": ("ask", {"question": "x", "path_glob": ["a/../../b"]}),
    "path filter '~/x'": ("search", {"query": "x", "path_glob": ["~/x"]}),
    "path filter 'C:\\\\x'": ("search", {"query": "x", "path_glob": ["C:\\x"]}),
    "'query' is a required property": ("search", {}),
    "top_k: 0 is less than the minimum": ("search", {"query": "x", "top_k": 0}),
    "mode: 'best' is not one of": ("search", {"query": "x", "mode": "best"}),
    "Additional properties are not allowed": ("status", {"path": "/"}),
    "--repo is for an index of several repositories": ("search", {"query": "x", "repo": ["a"]}),
    "the question is empty": ("ask", {"question": " \n"}),
    "there is no tool 'write'": ("write", {}),
}


@pytest.mark.slow
def test_wrong_calls_are_tool_errors_and_the_server_lives_on(folder):
    index(folder)

    async def talk():
        async with connected(folder) as client:
            told = [await client.call_tool(name, given) for name, given in WRONG.values()]
            return told, await client.call_tool("search", {"query": "total_price"})

    told, found = anyio.run(talk)

    assert [result.is_error for result in told] == [True] * len(WRONG)
    for why, result in zip(WRONG, told, strict=True):
        assert why in text_of(result)
    assert not found.is_error


@pytest.mark.slow
def test_ask_answers_with_the_language_model_unless_told_not_to(folder):
    index(folder)
    reply = "In the cart [shop/cart.py:1-3]."
    question = {"question": "what is total_price?"}

    async def talk(**environment):
        async with connected(folder, **environment) as client:
            answered = await client.call_tool("ask", question)
            spared = await client.call_tool("ask", {**question, "no_llm": True})
            return answered.structured_content, spared.structured_content

    with ScriptedServer(lambda request: Say(reply)) as server:
        url = server.base_url
        answered, spared = anyio.run(lambda: talk(OPENAI_BASE_URL=url, OPENAI_API_KEY="k"))
        calls = len(server.requests)
    failed = anyio.run(lambda: _failure(folder, question, OPENAI_BASE_URL="http://127.0.0.1:9/v1"))

    assert (answered["mode"], answered["citations"][0]["valid"]) == ("answer", True)
    assert (spared["mode"], calls) == ("excerpts", 2)
    assert failed.is_error
    assert "hint: " in text_of(failed)


async def _failure(folder, question, **environment):
    async with connected(folder, ASKCODE_TIMEOUT="1", **environment) as client:
        return await client.call_tool("ask", question)


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "askcode", "mcp", str(folder), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.mark.slow
def test_the_end_of_input_ends_the_server_quietly(folder):
    with start(folder) as server:
        server.stdin.write(f"{json.dumps(HELLO)}\nnot a message\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        rest, errors = server.communicate(timeout=30)

    assert answer["result"]["serverInfo"]["name"] == "askcode"
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert (server.returncode, errors) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_quietly(folder, number, code):
    with start(folder) as server:
        server.stdin.write(f"{json.dumps(HELLO)}\n")
        server.stdin.flush()
        server.stdout.readline()
        began = time.monotonic()
        server.send_signal(number)
        server.wait(timeout=30)
        took_s = time.monotonic() - began
        rest, errors = server.communicate()

    assert (server.returncode, rest, errors) == (code, "", "")
    assert took_s < 2


def test_without_the_extra_package_the_command_says_how_to_get_it(folder, tmp_path):
    write(tmp_path / "path", {"mcp.py": "raise ModuleNotFoundError(\"No module named 'mcp'\")\n"})
    environment = {"PYTHONPATH": f"{tmp_path / 'path'}{os.pathsep}{PROJECT}"}

    ran = run_process("mcp", str(folder), cwd=tmp_path, env=environment)

    assert (ran.code, ran.out) == (2, "")
    assert "askcode mcp needs an extra package: No module named 'mcp'" in ran.err
    assert 'pip install ".[mcp]"' in ran.err


def readme_servers():
    """Return each configuration of the README as the words that start the server."""
    text = (PROJECT / "README.md").read_text("utf-8")
    section = text.partition("## For agents\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```(json|toml)\n(.*?)```", section, re.DOTALL)
    readers = {"json": json.loads, "toml": tomllib.loads}
    for kind, block in blocks:
        (servers,) = readers[kind](block).values()
        yield [servers["askcode"]["command"], *servers["askcode"]["args"]]


@pytest.mark.slow
def test_the_configurations_of_the_readme_start_the_server(folder):
    index(folder)
    found = list(readme_servers())
    program = str(Path(sys.executable).parent / "askcode")

    async def talk(words):
        command = [
            {"askcode": program, "/path/to/repository": str(folder)}.get(word, word)
            for word in words
        ]
        async with connected(folder, command=command) as client:
            return await client.call_tool("search", {"query": "total_price"})

    assert len(found) == 3
    assert [words[0] for words in found] == ["askcode"] * 3
    for words in {tuple(words) for words in found}:
        assert not anyio.run(talk, words).is_error
