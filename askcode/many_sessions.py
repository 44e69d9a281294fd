"""Open an index of several repositories: choose those that a run is for, or remove one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askcode.choosing_repositories import choose
from askcode.errors import UsageError
from askcode.manifest import MANIFEST_NAME, load_manifest
from askcode.protocols import IndexPlace
from askcode.repositories import (
    REPOSITORIES_NAME,
    Repository,
    dump_repositories,
    split_name,
)
from askcode.sessions import WantedRepository
from askcode.settings import Settings
from askcode.wiring import load_repositories, make_database, make_place

SettingsOf = Callable[[Path], Settings]


@dataclass(frozen=True, slots=True)
class Members:
    """The repositories a run is for, none where it is for one code base alone."""

    wanted: tuple[WantedRepository, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Removed:
    """A repository that was taken out of an index."""

    name: str
    files: int
    chunks: int


def choose_members(
    settings: Settings,
    roots: Sequence[Path],
    listed: Mapping[Path, str],
    *,
    settings_of: SettingsOf,
    whole: bool,
) -> Members:
    """Return the repositories that a run over some folders is for.

    It is one over several when more than one folder is given, when a list is, or when the
    index was made of several.

    Raises:
        UsageError: it is not said where the index lies, or that one is of one code base.
    """
    asks_for_several = len(roots) > 1 or bool(listed)
    if not settings.index_dir:
        if not asks_for_several:
            return Members()
        raise UsageError(
            "an index of several repositories needs a place of its own",
            hint="name one with --index-dir DIR",
        )
    place = make_place(settings, Path())
    known = load_repositories(place)
    if not asks_for_several and not known:
        return Members()
    if not known and place.read(REPOSITORIES_NAME) is None and _has_index(place):
        raise UsageError(
            f"the index in {place.uri} is of one code base alone",
            hint="put the one of several elsewhere with --index-dir",
        )
    chosen = choose(roots, listed, known, whole=whole)
    wanted = tuple(
        WantedRepository(each, settings_of(Path(each.root))) for each in chosen.repositories
    )
    return Members(wanted, (*chosen.notes, *(_warnings(wanted))))


def remove_repository(settings: Settings, name: str, *, wait: bool) -> Removed:
    """Take a repository and all its files out of an index of several.

    Raises:
        UsageError: the index has no repository of this name.
        IndexUnusable: there is no index, or it is damaged.
        IndexLocked: another run holds it.
    """
    from askcode.adapters.lance_store import open_store

    place = make_place(settings, Path())
    manifest = load_manifest(place)
    _check_name(name, load_repositories(place), place)
    with place.hold(wait=wait) as still_held:
        known = load_repositories(place)
        _check_name(name, known, place)
        database = make_database(settings, place, before_write=still_held)
        store = open_store(database, table=manifest.table, dim=manifest.embedder.dim)
        own = {path: file for path, file in store.files().items() if split_name(path)[0] == name}
        store.replace({}, removed=sorted(own))
        # its name goes last: a kill in between leaves files that still belong to somebody
        left = [each for each in known if each.name != name]
        place.write(REPOSITORIES_NAME, dump_repositories(left))
        store.finish()
    return Removed(name, len(own), sum(file.chunks for file in own.values()))


def _check_name(name: str, known: Sequence[Repository], place: IndexPlace) -> None:
    names = [each.name for each in known]
    if name not in names:
        raise UsageError(
            f"the index in {place.uri} has no repository {name!r}",
            hint=f"there are {', '.join(names)}" if names else "it is of one code base alone",
        )


def _has_index(place: IndexPlace) -> bool:
    return place.read(MANIFEST_NAME) is not None


def _warnings(wanted: Sequence[WantedRepository]) -> list[str]:
    return [f"{each.repository.name}: {text}" for each in wanted for text in each.settings.warnings]
