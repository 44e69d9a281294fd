"""Tell the repositories of one index apart: each has a name, and its files are `name:path`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from askcode.errors import IndexDamaged, UsageError

REPOSITORIES_NAME = "repositories.json"
_FORMAT = 1
_NAME = re.compile(r"[\w.-]+")
_ODD = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Repository:
    """One code base of an index of several."""

    name: str
    """Letters, digits, `_`, `.` and `-`; it never changes while the repository is indexed."""
    root: str
    """Absolute path of its folder on the machine that indexed it last."""
    chunk_tokens: int = 0
    """The size its chunks were cut to; 0 before it was indexed."""


@dataclass(frozen=True, slots=True)
class Located:
    """A file of an index, on disk."""

    root: Path
    path: str
    """Relative to the root."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where the files of an index lie: below one folder, or below several that have names."""

    only: Path
    named: Mapping[str, Path] = field(default_factory=dict)

    def locate(self, path: str) -> Located:
        """Return where a path of the index lies; of a name that is unknown, nowhere."""
        if not self.named:
            return Located(self.only, path)
        name, inner = split_name(path)
        return Located(self.named.get(name, Path("/nonexistent")), inner)


def full_path(name: str, path: str) -> str:
    """Return a file's path in an index of several repositories."""
    return f"{name}:{path}"


def split_name(path: str) -> tuple[str, str]:
    """Return the repository's name and the path below its root."""
    name, _, inner = path.partition(":")
    return name, inner


def path_below(path: str) -> str:
    """Return a path without the name of a repository in front, if there is one.

    Example: `shop:tests/a.py` gives `tests/a.py`, and so does `tests/a.py`.
    """
    name, colon, inner = path.partition(":")
    return inner if colon and inner and _NAME.fullmatch(name) else path


def named(roots: Iterable[Path], known: Sequence[Repository]) -> list[Repository]:
    """Return the repositories of some roots: those known under their names, others with new ones.

    The folder's name is taken; where it is taken already, the folder above is put in front.
    """
    found: list[Repository] = []
    by_root = {each.root: each for each in known}
    taken = {each.name for each in known}
    for root in dict.fromkeys(roots):
        repository = by_root.get(str(root)) or Repository(_free_name(root, taken), str(root))
        taken.add(repository.name)
        found.append(repository)
    return found


def read_list(file: Path) -> dict[Path, str]:
    """Return the roots that a file lists, one a line, each with the name given or none.

    A line is a path, relative to the file, or `NAME=PATH`; `#` begins a comment.

    Raises:
        UsageError: the file cannot be read, or a name or a folder in it cannot be used.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or error}"
        ) from error
    found: dict[Path, str] = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, written = text.partition("=")
        if not equals or not _NAME.fullmatch(name.strip()):
            name, written = "", text
        root = (file.parent / Path(written.strip()).expanduser()).resolve()
        if not root.is_dir():
            raise UsageError(
                f"{file}, line {number}: {written.strip()} is not a directory",
                hint="give the root of a code base on each line",
            )
        if name and name.strip() in found.values():
            raise UsageError(f"{file}, line {number}: the name {name.strip()} is given twice")
        found[root] = name.strip()
    if not found:
        raise UsageError(f"{file} names no repository", hint="give the root of one on each line")
    return found


def merged(known: Sequence[Repository], changed: Sequence[Repository]) -> list[Repository]:
    """Return the known repositories with the changed ones in their places, or added, by name."""
    by_name = {each.name: each for each in (*known, *changed)}
    return [by_name[name] for name in sorted(by_name)]


def renamed(repository: Repository, *, root: Path) -> Repository:
    """Return a repository whose folder lies elsewhere, as on another machine."""
    return replace(repository, root=str(root))


def dump_repositories(repositories: Sequence[Repository]) -> bytes:
    """Return the list of an index's repositories as it is kept beside the table."""
    rows = [asdict(each) for each in repositories]
    return (json.dumps({"format": _FORMAT, "repositories": rows}, indent=2) + "\n").encode()


def parse_repositories(data: bytes | None, *, place: str) -> list[Repository]:
    """Return the repositories of an index, none where it is of one code base alone.

    Raises:
        IndexDamaged: the list cannot be read.
    """
    if data is None:
        return []
    try:
        value = json.loads(data)
        return [Repository(**row) for row in value["repositories"]]
    except (ValueError, TypeError, KeyError) as error:
        raise IndexDamaged(
            f"the index is damaged or incomplete ({place}/{REPOSITORIES_NAME}: {error})",
            hint="run: askcode index --rebuild PATH PATH...",
        ) from error


def _free_name(root: Path, taken: set[str]) -> str:
    base, parent = (_ODD.sub("-", part).strip("-") for part in (root.name, root.parent.name))
    base = base or "root"
    candidates = [base, f"{parent}-{base}"] if parent else [base]
    number = 2
    while candidates[0] in taken:
        del candidates[0]
        if not candidates:
            candidates.append(f"{base}-{number}")
            number += 1
    return candidates[0]
