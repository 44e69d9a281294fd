"""The options that several commands share, each named once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askcode.errors import UsageError

Root = Annotated[Path, typer.Argument(metavar="[PATH]", help="Root of the code base.")]
Roots = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PATH]...", help="Root of the code base, or several roots."),
]
RepositoryList = Annotated[
    Path | None,
    typer.Option(
        "--repos",
        metavar="FILE",
        help="Index the repositories that a file lists: a PATH or NAME=PATH a line.",
    ),
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for another run on this index to end.")]
RootOption = Annotated[
    Path, typer.Option("--path", "-C", metavar="PATH", help="Root of the code base.")
]
IndexDir = Annotated[
    str | None,
    typer.Option(
        "--index-dir", metavar="DIR", help="Where the index lies. [env: ASKCODE_INDEX_DIR]"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result and errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more about each file.")]
PathGlobs = Annotated[
    list[str] | None,
    typer.Option(
        "--path-glob", metavar="GLOB", help="Search only these paths; may be given again."
    ),
]
RepositoryGlobs = Annotated[
    list[str] | None,
    typer.Option(
        "--repo",
        metavar="GLOB",
        help="Search only repositories of this name, in an index of several; may be given again.",
    ),
]
Languages = Annotated[
    list[str] | None,
    typer.Option("--lang", metavar="LANG", help="Search only this language; may be given again."),
]
NoLlm = Annotated[bool, typer.Option("--no-llm", help="Make no call to a language model.")]
EmbedModel = Annotated[
    str | None,
    typer.Option(
        "--embed-model",
        metavar="NAME",
        help="bundled, a fastembed name, a folder, or openai:NAME. [env: ASKCODE_EMBED_MODEL]",
    ),
]
LlmModel = Annotated[
    str | None,
    typer.Option("--llm-model", metavar="NAME", help="Language model. [env: OPENAI_MODEL]"),
]
Provider = Annotated[
    str | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        help="openai, openrouter, fireworks, gemini, ollama or llamacpp. [env: ASKCODE_PROVIDER]",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", metavar="SECONDS", help="Longest wait for the LLM. [env: ASKCODE_TIMEOUT]"
    ),
]


def existing_root(path: Path) -> Path:
    """Return the absolute root.

    Raises:
        UsageError: it is not a directory.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist", hint="give the root of a code base")
    if not path.is_dir():
        raise UsageError(f"{path} is not a directory", hint="give the root of a code base")
    return path.resolve()


def flag_values(values: list[str] | None) -> tuple[str, ...] | None:
    """Return a repeated option's values, or None where it was not given."""
    return tuple(values) if values else None
