"""Say which repositories a run over an index of several is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askcode.errors import UsageError
from askcode.globbing import path_rule
from askcode.repositories import Repository, merged, named, renamed


@dataclass(frozen=True, slots=True)
class Chosen:
    """The repositories to look at, and what is to be told of others."""

    repositories: tuple[Repository, ...]
    notes: tuple[str, ...] = ()


def choose(
    roots: Sequence[Path], listed: Mapping[Path, str], known: Sequence[Repository], *, whole: bool
) -> Chosen:
    """Return the repositories of the roots given, or all that are known where none is given.

    Args:
        roots: Folders named on the command line.
        listed: Folders of a list, each with a name or none.
        known: The repositories of the index.
        whole: Whether the index is made anew, so that none may be left out.

    Raises:
        UsageError: there is no repository to look at.
    """
    by_name = {each.name: each for each in known}
    given = [
        renamed(by_name.get(name, Repository(name, "")), root=root)
        for root, name in listed.items()
        if name
    ]
    unnamed = [*roots, *(root for root, name in listed.items() if not name)]
    wanted = [*given, *named(unnamed, merged(known, given))]
    if whole or not wanted:
        wanted = merged(known, wanted)
    present = tuple(each for each in wanted if Path(each.root).is_dir())
    notes = tuple(
        f"{each.name} is left as it is: {each.root} is not there; "
        f"`askcode remove {each.name}` takes it out of the index"
        for each in wanted
        if each not in present
    )
    if not present:
        raise UsageError(
            "no repository of the index is there to be read",
            hint="name one: askcode index PATH PATH...",
        )
    return Chosen(present, notes)


def check_names(globs: Sequence[str], known: Sequence[Repository]) -> None:
    """Refuse globs of names that fit no repository of the index.

    Raises:
        UsageError: none fits, or the index is of one code base.
    """
    names = [each.name for each in known]
    if not names:
        raise UsageError(
            "--repo is for an index of several repositories, and this one is of one code base",
            hint="make one with: askcode index PATH PATH... --index-dir DIR",
        )
    rule = path_rule(globs)
    if not any(rule.allows(name) for name in names):
        raise UsageError(
            f"no repository of the index is called {' or '.join(globs)}",
            hint=f"there are {', '.join(names)}",
        )
