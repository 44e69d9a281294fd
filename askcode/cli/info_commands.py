"""askcode status, prompts, history and schema: what there is, without changing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from askcode import wiring
from askcode.cli import options, rendering
from askcode.cli.output import note, print_json, print_lines
from askcode.errors import UsageError
from askcode.records import IndexedFile
from askcode.repositories import Repository, split_name
from askcode.settings import STAGES, Settings, load_settings, shown_settings

if TYPE_CHECKING:
    from askcode.indexing import Survey


def status(
    path: options.Root = Path(),
    index_dir: options.IndexDir = None,
    embed_model: options.EmbedModel = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Say what is indexed, how fresh it is, its cost, the settings."""
    start = options.existing_root(path)
    flags = {"index_dir": index_dir, "embed_model": embed_model}
    root = wiring.find_root(start, load_settings(start, flags))
    settings = load_settings(root, flags)
    for warning in () if quiet else settings.warnings:
        note(warning)
    value = read_status(settings, root, flags)
    if as_json:
        print_json(rendering.status_json(value))
    else:
        print_lines(rendering.status_lines(value))


def read_status(settings: Settings, root: Path, flags: Mapping[str, object]) -> rendering.Status:
    """Return what is indexed, and how the files on disk differ from it.

    Raises:
        IndexUnusable: there is no index, or it was made otherwise.
    """
    from askcode.many_sessions import choose_members
    from askcode.own_steps import installed_steps
    from askcode.sessions import look, without_llm

    index = wiring.open_index(settings, root)
    files = index.store.files()
    members = choose_members(
        settings, (), {}, settings_of=lambda own: load_settings(own, flags), whole=False
    )
    wanted = replace(without_llm(), members=members.wanted)
    survey = look(settings, root, wanted, must_exist=True).indexer.survey()
    reasons = Counter(file.reason for file in survey.files if file.decision == "index")
    return rendering.Status(
        root=str(root),
        index_dir=index.place.uri,
        files=len(files),
        chunks=sum(file.chunks for file in files.values()),
        languages=Counter(file.language or "other" for file in files.values()),
        questions=sum(file.questions for file in files.values()),
        bytes=wiring.index_bytes(index.place),
        embedder=index.manifest.embedder,
        models=_models(settings),
        metadata=tuple(sorted({kind for file in files.values() for kind in file.kinds})),
        new=reasons["new"],
        changed=reasons["changed"],
        deleted=len(survey.removed),
        spent=wiring.spent_in(settings.index_place(root)),
        steps=tuple(installed_steps()),
        settings=tuple(
            rendering.ShownSetting(name, value, origin)
            for name, (value, origin) in shown_settings(settings).items()
        ),
        repositories=_repositories(index.repositories, files, survey),
    )


def _repositories(
    repositories: Sequence[Repository], files: Mapping[str, IndexedFile], survey: Survey
) -> tuple[rendering.RepositoryStatus, ...]:
    found = []
    for each in repositories:
        own = [file for path, file in files.items() if split_name(path)[0] == each.name]
        stale = [
            path for path in (*survey.changed, *survey.removed) if split_name(path)[0] == each.name
        ]
        found.append(
            rendering.RepositoryStatus(
                each.name,
                each.root,
                len(own),
                sum(file.chunks for file in own),
                len(stale),
                Path(each.root).is_dir(),
            )
        )
    return tuple(found)


def _models(settings: Settings) -> dict[str, str]:
    found = {stage: settings.endpoint(stage) for stage in STAGES}
    return {stage: endpoint.model for stage, endpoint in found.items() if endpoint}


def history(
    path: options.RootOption = Path(),
    count: Annotated[
        int, typer.Option("--last", "-n", metavar="N", min=1, help="How many questions to show.")
    ] = 10,
    index_dir: options.IndexDir = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the last questions and their answers."""
    start = options.existing_root(path)
    flags = {"index_dir": index_dir}
    root = wiring.find_root(start, load_settings(start, flags))
    entries = wiring.make_history(load_settings(root, flags), root).last(count)
    if as_json:
        print_json(rendering.history_json(entries))
    else:
        print_lines(rendering.history_lines(entries))


def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="ask, search, index, plan, eval, history or status."),
    ] = None,
) -> None:
    """Print the JSON schema of a command's --json output, or list them."""
    folder = resources.files("askcode") / "schemas"
    names = sorted(item.name.removesuffix(".json") for item in folder.iterdir())
    if name is None:
        print_lines(names)
    elif name in names:
        text = (folder / f"{name}.json").read_text(encoding="utf-8")
        print_lines(text.rstrip("\n").split("\n"))
    else:
        raise UsageError(f"there is no schema {name!r}", hint=f"there are {', '.join(names)}")


def list_prompts() -> None:
    """List the prompts, and which of them are your own."""
    prompts = wiring.make_prompts(load_settings(Path()))
    print_lines(f"{name}  {prompts.path(name)}" for name in prompts.names())


def show_prompt(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Print one prompt as it is used."""
    print_lines(wiring.make_prompts(load_settings(Path())).source(name).rstrip("\n").split("\n"))


def export_prompts(directory: Annotated[Path, typer.Argument(metavar="DIR")]) -> None:
    """Copy the built-in prompts into a folder, to change them there."""
    written = wiring.make_prompts(load_settings(Path())).export(directory)
    print_lines(str(path) for path in written)
    note(f"use them with ASKCODE_PROMPTS_DIR={directory}")
