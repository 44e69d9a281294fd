"""List the files that git would, where git cannot be asked.

The walk is `git ls-files -co --exclude-standard` by our own means: ignore files of the tree,
`.git/info/exclude`, `core.excludesFile`, and the paths that git's index says are tracked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from platformdirs.unix import Unix

from askcode.ignoring import IgnoreFiles, PatternList, parse_patterns
from askcode.reading import read_bytes
from askcode.records import Skipped
from askcode.tracking import tracked_paths

_MAX_CONFIG_BYTES = 1024**2
_NO_INDEX = "the repository's index is damaged: tracked files that are ignored too are left out"
# git keeps to the XDG folders on every system
_GIT_FOLDER = Unix("git")


@dataclass(frozen=True, slots=True)
class Walked:
    """The paths of a walk, as git would print them, and the folders it could not enter."""

    paths: tuple[bytes, ...]
    unreadable: tuple[Skipped, ...]
    warnings: tuple[str, ...] = ()


def walk(root: Path, *, excludes_file: Path | None = None) -> Walked:
    """List the files below a root; rules of a repository around it count.

    Args:
        root: the folder to list.
        excludes_file: the user's own ignore file, None for the place git looks in.
    """
    top = repository_top(root)
    if top is None:
        return _walk_from(root, b"", _ignore_files(root, None, excludes_file))
    git_dir = _git_dir(top)
    prefix = os.fsencode(os.path.relpath(root.resolve(), top.resolve()))
    prefix = b"" if prefix == b"." else prefix + b"/"
    ignore = _ignore_files(top, git_dir, excludes_file)
    if prefix and ignore.hides(prefix[:-1], is_folder=True):
        return _walk_from(root, b"", _ignore_files(root, None, excludes_file))
    tracked = tracked_paths(git_dir) if git_dir else frozenset()
    warnings = () if tracked is not None else (_NO_INDEX,)
    walked = _walk_from(top, prefix, ignore)
    inside = {path[len(prefix) :] for path in tracked or () if path.startswith(prefix)}
    # a submodule that is checked out is walked as a nested repository
    others = {path for path in walked.paths if path.rstrip(b"/") not in inside}
    return Walked(tuple(sorted(inside | others)), walked.unreadable, warnings)


def repository_top(root: Path) -> Path | None:
    """Return the nearest folder, from a root upwards, that holds a repository."""
    place = root.resolve()
    return next((folder for folder in (place, *place.parents) if _git_dir(folder)), None)


def _walk_from(top: Path, prefix: bytes, ignore: IgnoreFiles) -> Walked:
    paths: list[bytes] = []
    unreadable: list[Skipped] = []
    pending = [prefix]
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(os.fsencode(top) + b"/" + folder), key=_name)
        except OSError as error:
            if folder != prefix:
                shown = os.fsdecode(folder[len(prefix) :])
                unreadable.append(Skipped(shown, "unreadable", error.strerror or ""))
            continue
        for entry, path in _kept(entries, folder, ignore):
            if not entry.is_dir(follow_symlinks=False):
                paths.append(path[len(prefix) :])
            elif _git_dir(top / os.fsdecode(path)):
                paths.append(path[len(prefix) :] + b"/")
            else:
                pending.append(path + b"/")
    return Walked(tuple(sorted(paths)), tuple(unreadable))


def _name(entry: os.DirEntry[bytes]) -> bytes:
    return entry.name


def _kept(
    entries: list[os.DirEntry[bytes]], folder: bytes, ignore: IgnoreFiles
) -> Iterator[tuple[os.DirEntry[bytes], bytes]]:
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        is_listed = is_folder or entry.is_symlink() or entry.is_file(follow_symlinks=False)
        path = folder + entry.name
        if entry.name == b".git" or not is_listed:
            continue
        if not ignore.ignores(path, is_folder=is_folder):
            yield entry, path


def _ignore_files(top: Path, git_dir: Path | None, excludes_file: Path | None) -> IgnoreFiles:
    """Return a tree's ignore files, with the two lists that are weaker than any of them."""
    common = _common_dir(git_dir) if git_dir else None
    ignore_case = bool(common) and _setting(_config_files(common), "ignorecase") == "true"
    weaker = []
    if common:
        weaker.append(common / "info" / "exclude")
    weaker.append(excludes_file or _excludes_file(common))
    lists = [
        PatternList(b"", parse_patterns(_content(file), ignore_case=ignore_case)) for file in weaker
    ]
    return IgnoreFiles(top, ".gitignore", weaker=lists, ignore_case=ignore_case)


def _git_dir(folder: Path) -> Path | None:
    """Return the git directory of a work tree, also where `.git` is a file that names it."""
    place = folder / ".git"
    if place.is_file():
        named = re.match(rb"gitdir: ([^\n\r]+)", _content(place))
        place = folder / os.fsdecode(named[1]) if named else place
    try:
        has_head = (place / "HEAD").is_file() or (place / "HEAD").is_symlink()
        common = _common_dir(place)
        return place if has_head and (common / "objects").is_dir() else None
    except OSError:
        return None


def _common_dir(git_dir: Path) -> Path:
    """Return what linked work trees share."""
    named = _content(git_dir / "commondir").strip()
    return git_dir / os.fsdecode(named) if named else git_dir


def _content(file: Path) -> bytes:
    try:
        data = read_bytes(file.resolve().parent, file.resolve().name, max_bytes=_MAX_CONFIG_BYTES)
    except (OSError, RuntimeError):
        return b""
    return data if isinstance(data, bytes) else b""


def _config_files(common: Path | None) -> list[Path]:
    """Return the files git reads its settings from, the strongest first."""
    own = [common / "config"] if common else []
    users = Path("~/.gitconfig").expanduser()
    return [*own, users, _GIT_FOLDER.user_config_path / "config", Path("/etc/gitconfig")]


def _excludes_file(common: Path | None) -> Path:
    named = _setting(_config_files(common), "excludesfile")
    return Path(named).expanduser() if named else _GIT_FOLDER.user_config_path / "ignore"


def _setting(files: list[Path], name: str) -> str | None:
    """Return a value of the section `core`, None when no file has it."""
    for file in files:
        section = ""
        found = None
        for line in _content(file).decode("utf-8", "replace").splitlines():
            header = re.match(r"\s*\[\s*([^\]\s]+)", line)
            section = header[1].lower() if header else section
            entry = re.match(r"\s*(\w+)\s*=\s*(.*?)\s*$", line)
            if entry and section == "core" and entry[1].lower() == name:
                found = entry[2].strip('"')
        if found is not None:
            return found
    return None
