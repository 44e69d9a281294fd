"""askcode remove: take a repository out of an index of several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from askcode.cli import options, rendering
from askcode.cli.output import print_lines
from askcode.errors import UsageError
from askcode.settings import load_settings


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `askcode status` lists it.")],
    index_dir: options.IndexDir = None,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> None:
    """Take a repository out of an index; its files on disk stay."""
    settings = load_settings(Path(), {"index_dir": index_dir})
    if not settings.index_dir:
        raise UsageError("say which index", hint="name it with --index-dir DIR")
    from askcode.many_sessions import remove_repository

    removed = remove_repository(settings, name, wait=wait)
    if not quiet:
        files, chunks = (
            rendering.counted(removed.files, "file"),
            rendering.counted(removed.chunks, "chunk"),
        )
        print_lines([f"{removed.name} removed: {files}, {chunks}"])
