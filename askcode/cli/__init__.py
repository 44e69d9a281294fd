"""The command line: parse, call, render. The only part that prints or exits."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer

from askcode import __version__
from askcode.cli import (
    asking_commands,
    eval_command,
    index_command,
    info_commands,
    mcp_command,
    remove_command,
)
from askcode.cli.failing import (
    DEBUG,
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    GuardedGroup,
    run_guarded,
)

app = typer.Typer(
    name="askcode",
    cls=GuardedGroup,
    help="Ask your codebase questions, and get answers whose citations hold.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
prompts_app = typer.Typer(help="List, show or copy the prompts.", no_args_is_help=True)

app.command("index")(index_command.index)
app.command("ask")(asking_commands.ask)
app.command("search")(asking_commands.search)
app.command("remove")(remove_command.remove)
app.command("status")(info_commands.status)
app.command("eval")(eval_command.evaluate)
app.command("mcp")(mcp_command.mcp)
app.command("history")(info_commands.history)
app.command("schema")(info_commands.schema)
app.add_typer(prompts_app, name="prompts")
prompts_app.command("list")(info_commands.list_prompts)
prompts_app.command("show")(info_commands.show_prompt)
prompts_app.command("export")(info_commands.export_prompts)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"askcode {__version__}")
        raise typer.Exit


@app.callback()
def askcode(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an expected error came from.")
    ] = False,
) -> None:
    """Ask your codebase questions, and get answers whose citations hold."""
    DEBUG.is_on = debug


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    code = run_guarded(lambda: app(standalone_mode=False))
    if code in (EXIT_INTERRUPTED, EXIT_TERMINATED):
        # native threads and requests under way would hold the end of the process up for seconds
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
