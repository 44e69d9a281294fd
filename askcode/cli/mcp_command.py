"""askcode mcp: search, ask and status as tools for agents, over stdio."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, cast

from askcode import __version__
from askcode.cli import json_values, options
from askcode.cli.asking_commands import language_name, located
from askcode.cli.failing import EXIT_INTERRUPTED, EXIT_TERMINATED
from askcode.cli.info_commands import read_status
from askcode.errors import UsageError

if TYPE_CHECKING:
    from askcode.adapters.mcp_server import JsonObject, ServedTool
    from askcode.records import Filters
    from askcode.serving import ServedIndex

INSTRUCTIONS = (
    "Search and ask about the code base that this server is started for. All paths are relative "
    "to its root; in an index of several repositories they read name:path. search finds chunks of "
    "code by meaning and by word; ask answers with checked citations; status says what is indexed "
    "and whether it is up to date."
)

_TEXTS = {"type": "array", "items": {"type": "string"}}
_FILTERS = {
    "top_k": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many chunks."},
    "path_glob": {**_TEXTS, "description": "Only these paths, relative to the root: src/**"},
    "lang": {**_TEXTS, "description": "Only these languages, such as python."},
    "repo": {
        **_TEXTS,
        "description": "Only repositories of these names (globs), in an index of several.",
    },
}
_SEARCH = {
    "query": {"type": "string", "description": "What to look for, in words or names."},
    **_FILTERS,
    "mode": {"enum": ["hybrid", "vector", "text"]},
}
_ASK = {
    "question": {"type": "string", "description": "A question about the code."},
    **_FILTERS,
    "no_llm": {"type": "boolean", "description": "Return the excerpts; call no language model."},
}


def mcp(
    path: options.Root = Path(),
    no_llm: options.NoLlm = False,
    embed_model: options.EmbedModel = None,
    llm_model: options.LlmModel = None,
    provider: options.Provider = None,
    index_dir: options.IndexDir = None,
    timeout: options.Timeout = None,
) -> None:
    """Serve search, ask and status to agents (MCP over stdio)."""
    try:
        from askcode.adapters.mcp_server import Served, serve
    except ModuleNotFoundError as error:
        raise UsageError(
            f"askcode mcp needs an extra package: {error}",
            hint='pip install "askcode[mcp]", or pip install ".[mcp]" in a checkout',
        ) from error
    from askcode.serving import ServedIndex

    flags: dict[str, object] = {
        "embed_model": embed_model,
        "llm_model": llm_model,
        "provider": provider,
        "index_dir": index_dir,
        "timeout_s": timeout,
    }
    root, settings = located(path, flags)
    index = ServedIndex(root, settings)
    for number, code in ((signal.SIGTERM, EXIT_TERMINATED), (signal.SIGINT, EXIT_INTERRUPTED)):
        signal.signal(number, lambda *_, code=code: _leave(code))
    serve(
        Served(
            "askcode",
            __version__,
            INSTRUCTIONS,
            _tools(index, flags, use_llm=not no_llm),
            lambda text: _scrubbed(text, index),
            index.warm_up,
        )
    )
    _leave(0)


def _leave(code: int) -> None:
    """End at once: a call under way in a thread has nobody left to answer."""
    sys.stderr.flush()
    os._exit(code)


def _tools(
    index: ServedIndex, flags: Mapping[str, object], *, use_llm: bool
) -> Sequence[ServedTool]:
    from askcode.adapters.mcp_server import ServedTool

    def search(asked: JsonObject) -> JsonObject:
        found = index.search(
            _question(asked["query"]),
            k=cast(int, asked.get("top_k", 10)),
            filters=_filters(asked),
            mode=str(asked.get("mode", "hybrid")),
        )
        return json_values.search_json(found)

    def ask(asked: JsonObject) -> JsonObject:
        answered = index.ask(
            _question(asked["question"]),
            k=cast(int, asked.get("top_k", index.settings.top_k)),
            filters=_filters(asked),
            use_llm=use_llm and not asked.get("no_llm", False),
        )
        return json_values.answer_json(answered.answer)

    def status(asked: JsonObject) -> JsonObject:
        # where the root lies and how this machine is set is not the agent's business
        found = read_status(index.settings, index.root, flags)
        shown = replace(
            found,
            root=".",
            index_dir=_place(index),
            settings=(),
            repositories=tuple(replace(each, root=each.name) for each in found.repositories),
        )
        return json_values.status_json(shown)

    return (
        ServedTool(
            "search",
            "Find chunks of code by meaning and by word: path, lines, symbol, text.",
            _takes(_SEARCH, "query"),
            _schema("search"),
            search,
        ),
        ServedTool(
            "ask",
            "Answer a question about the code with citations that are checked; without a "
            "language model, the best excerpts.",
            _takes(_ASK, "question"),
            _schema("ask"),
            ask,
        ),
        ServedTool(
            "status",
            "Say what is indexed, and how many files changed since.",
            _takes({}),
            _schema("status"),
            status,
        ),
    )


def _takes(properties: Mapping[str, object], *required: str) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _schema(name: str) -> JsonObject:
    text = (resources.files("askcode") / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    return cast("JsonObject", json.loads(text))


def _question(value: object) -> str:
    from askcode.asking import clean_question

    return clean_question(str(value)).text


def _filters(asked: JsonObject) -> Filters:
    from askcode.serving import relative_filters

    globs = cast("Sequence[str]", asked.get("path_glob", ()))
    names = cast("Sequence[str]", asked.get("lang", ()))
    repositories = cast("Sequence[str]", asked.get("repo", ()))
    return relative_filters(globs, [language_name(name) for name in names], repositories)


def _place(index: ServedIndex) -> str:
    if index.settings.storage_uri:
        return index.settings.storage_uri
    place = index.settings.index_place(index.root)
    return str(place.relative_to(index.root)) if place.is_relative_to(index.root) else place.name


def _scrubbed(text: str, index: ServedIndex) -> str:
    """Return a message without where things lie on this machine."""
    place = index.settings.index_place(index.root)
    for folder, shown in ((place, _place(index)), (index.root, "."), (Path.home(), "~")):
        text = text.replace(str(folder), shown)
    return text
