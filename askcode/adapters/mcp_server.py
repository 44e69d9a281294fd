"""Serve tools over stdio with the MCP SDK: results are JSON objects, failures tool errors."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import anyio
from anyio import to_thread
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from askcode.errors import AskcodeError, UsageError

logger = logging.getLogger(__name__)

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool with the schemas of what it takes and gives."""

    name: str
    description: str
    takes: JsonObject
    gives: JsonObject
    call: Callable[[JsonObject], JsonObject]
    """Called in a thread of its own with arguments that hold to the schema."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a server says of itself, and its tools."""

    name: str
    version: str
    instructions: str
    tools: Sequence[ServedTool]
    scrub: Callable[[str], str]
    """Takes out of messages what must not leave this machine."""
    warm_up: Callable[[], object]
    """Called once in a thread while the first messages are read."""


def serve(served: Served) -> None:
    """Answer on stdin and stdout until stdin ends."""
    anyio.run(_serve, served)


async def _serve(served: Served) -> None:
    async def list_tools(context: object, page: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_described(tool) for tool in served.tools])

    async def call_tool(context: object, asked: CallToolRequestParams) -> CallToolResult:
        # in a thread, so that pings and other calls are answered meanwhile
        return await to_thread.run_sync(
            partial(_called, served, asked.name, asked.arguments or {}), abandon_on_cancel=True
        )

    server = Server(
        served.name,
        version=served.version,
        instructions=served.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with anyio.create_task_group() as tasks, stdio_server() as (incoming, outgoing):
        tasks.start_soon(partial(to_thread.run_sync, served.warm_up, abandon_on_cancel=True))
        await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


def _described(tool: ServedTool) -> Tool:
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.takes),
        output_schema=dict(tool.gives),
        annotations=ToolAnnotations(read_only_hint=True),
    )


def _called(served: Served, name: str, arguments: JsonObject) -> CallToolResult:
    try:
        return _result(_tool(served, name, arguments).call(arguments))
    except AskcodeError as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        return _failure(served.scrub(f"{error.message}{hint}"))
    except OSError as error:
        return _failure(served.scrub(f"{(error.strerror or str(error)).lower()}"))
    except Exception as error:
        # a bug in one call must not end the server for all later ones
        logger.exception("the tool %s failed", name)
        return _failure(served.scrub(f"internal error: {type(error).__name__}: {error}"))


def _tool(served: Served, name: str, arguments: JsonObject) -> ServedTool:
    tool = next((tool for tool in served.tools if tool.name == name), None)
    if tool is None:
        known = ", ".join(tool.name for tool in served.tools)
        raise UsageError(f"there is no tool {name!r}", hint=f"there are {known}")
    wrong = best_match(Draft202012Validator(tool.takes).iter_errors(dict(arguments)))
    if wrong is not None:
        place = ".".join(map(str, wrong.absolute_path))
        raise UsageError(f"{place}: {wrong.message}" if place else wrong.message)
    return tool


def _result(value: JsonObject) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=json.dumps(value))], structured_content=dict(value)
    )


def _failure(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)
