"""Choose the files of a code base, and say for each one left out why.

Considered is what git lists (see listing). From that `.askcodeignore` and `--exclude` take
away, in gitignore syntax, and then the default rules by name, by size and by content.

`--include` does not limit a run: it brings back what the default rules leave out as vendored,
generated, minified, lock file, data or tool folder. It does not bring back what git ignores,
what `.askcodeignore` or `--exclude` name, secrets (that is `--allow-secrets`), or files over
the size limit (`--max-file-size`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from askcode.attributing import Attributes
from askcode.ignoring import IgnoreFiles, PatternList, parse_patterns
from askcode.inspecting import find_reason, find_secret
from askcode.leaving_out import is_secret_name, reason_by_name
from askcode.listing import list_candidates
from askcode.nesting import list_nested
from askcode.own_steps import LoadedStep
from askcode.reading import read_source, size_limit, status_of, too_large
from askcode.records import Skipped, SourceFile
from askcode.running_steps import why_left_out

IGNORE_FILE = ".askcodeignore"
INDEX_DIRECTORY = b".askcode"


@dataclass(frozen=True, slots=True)
class ScanRules:
    """What the user wants in and out of the index."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = 1024**2
    allow_secrets: bool = False
    submodules: bool = False
    """Whether submodules and nested repositories are listed like the rest."""
    steps: tuple[LoadedStep, ...] = ()
    """What installed packages say of the files that all other rules let in."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to read, and those left out by what they are or are called."""

    paths: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...] = ()
    considered: int = 0
    """How many files git lists, the index's own left out."""


def list_files(root: Path, rules: ScanRules, *, index_dir: Path | None) -> Listing:
    """List the files below a root, each either to be read or skipped with a reason.

    Raises:
        StepError: an own step fails.
    """
    candidates = list_candidates(root)
    if rules.submodules:
        candidates = list_nested(root, candidates)
    own = _own_folder(root, index_dir)
    considered = [path for path in candidates.paths if not _is_own(path, own)]
    judge = _Judge(root, rules, considered)
    paths: list[str] = []
    skipped = list(candidates.unreadable)
    for path in considered:
        verdict = judge.verdict(path)
        if isinstance(verdict, str):
            paths.append(verdict)
        elif verdict is not None:
            skipped.append(verdict)
    return Listing(
        tuple(sorted(paths)),
        tuple(sorted(skipped, key=lambda left: left.path)),
        candidates.warnings,
        len(paths) + len(skipped),
    )


def read_file(root: Path, path: str, rules: ScanRules) -> SourceFile | Skipped | None:
    """Read a listed file and apply the rules about content; None when it is gone."""
    source = read_source(root, path, max_bytes=rules.max_file_bytes)
    if not isinstance(source, SourceFile):
        return source
    finding = None if rules.allow_secrets else find_secret(source.text)
    if finding is None and not _is_included(path, rules):
        finding = find_reason(path, source.text)
    if finding and finding.reason == "generated" and _is_not_generated(root, path):
        finding = None
    if finding is None:
        return source
    size = len(source.text.encode("utf-8", "surrogatepass"))
    return Skipped(path, finding.reason, finding.detail, size)


class _Judge:
    """Decide path by path, with what the paths together say."""

    def __init__(self, root: Path, rules: ScanRules, considered: list[bytes]) -> None:
        self._root = root
        self._rules = rules
        self._ignored = IgnoreFiles(root, IGNORE_FILE)
        self._attributes = Attributes(root, considered)
        self._folders = {folder for path in considered for folder in _folders(path)}
        self._environments = {
            path.rpartition(b"/")[0] for path in considered if path.endswith(b"/pyvenv.cfg")
        }
        self._linked: dict[bytes, bool] = {b"": False}

    def verdict(self, path: bytes) -> str | Skipped | None:
        """Return the path of a file to read, why it is left out, or None when it is gone."""
        shown = os.fsdecode(path.rstrip(b"/"))
        if self._is_linked(path.rstrip(b"/").rpartition(b"/")[0]):
            return None
        if path.endswith(b"/"):
            return Skipped(shown, "nested repository")
        status = status_of(self._root, shown)
        if isinstance(status, Skipped) and status.reason == "submodule" and path in self._folders:
            # a file that git tracks gave way to a folder, whose files are listed by themselves
            return None
        if not isinstance(status, os.stat_result):
            return status
        reason = self._reason(path, shown)
        if reason:
            return Skipped(shown, reason, bytes=status.st_size)
        if status.st_size > size_limit(shown, self._rules.max_file_bytes):
            return too_large(shown, status.st_size)
        if not status.st_size:
            return Skipped(shown, "empty")
        reason = why_left_out(self._rules.steps, shown)
        return Skipped(shown, reason, bytes=status.st_size) if reason else shown

    def _reason(self, path: bytes, shown: str) -> str | None:
        if self._ignored.hides(path):
            return "askcodeignore"
        if self._rules.exclude and _globs(self._rules.exclude).covers(path):
            return "excluded"
        if not self._rules.allow_secrets and is_secret_name(shown):
            return "secret"
        reason = self._by_attribute(path, reason_by_name(shown))
        if reason is None and not self._environments.isdisjoint(_folders(path)):
            reason = "vendored"
        return None if reason is None or _is_included(shown, self._rules) else reason

    def _by_attribute(self, path: bytes, reason: str | None) -> str | None:
        """Let what .gitattributes say of a file stand above the default rules."""
        for kind in ("vendored", "generated"):
            said = self._attributes.value(path, f"linguist-{kind}")
            if said:
                return kind
            if said is False and reason == kind:
                reason = None
        return reason

    def _is_linked(self, folder: bytes) -> bool:
        """Return whether a folder is reached through a link: for git it holds no files."""
        if folder not in self._linked:
            above = self._is_linked(folder.rpartition(b"/")[0])
            self._linked[folder] = above or os.path.islink(os.fsencode(self._root) + b"/" + folder)
        return self._linked[folder]


def _own_folder(root: Path, index_dir: Path | None) -> bytes | None:
    """Return where in the root the index lies, None when it lies elsewhere."""
    if index_dir is None:
        return None
    try:
        inside = index_dir.resolve().relative_to(root.resolve())
    except ValueError:
        return None
    return os.fsencode(inside) if inside.parts else None


def _is_own(path: bytes, own: bytes | None) -> bool:
    if INDEX_DIRECTORY in path.split(b"/"):
        return True
    return own is not None and (path.rstrip(b"/") == own or path.startswith(own + b"/"))


def _folders(path: bytes) -> Iterator[bytes]:
    """Yield the folders above a path, the deepest first."""
    folder = path.rstrip(b"/").rpartition(b"/")[0]
    while folder:
        yield folder
        folder = folder.rpartition(b"/")[0]


@lru_cache(maxsize=8)
def _globs(globs: tuple[str, ...]) -> PatternList:
    lines = (os.fsencode(glob).removeprefix(b"./") for glob in globs)
    return PatternList(b"", parse_patterns(b"\n".join(lines)))


def _is_included(path: str, rules: ScanRules) -> bool:
    return bool(rules.include) and _globs(rules.include).covers(os.fsencode(path))


def _is_not_generated(root: Path, path: str) -> bool:
    """Return whether .gitattributes say that a file is not generated, whatever it says."""
    name = os.fsencode(path)
    files = [folder + b"/.gitattributes" for folder in _folders(name)]
    attributes = Attributes(root, [*files, b".gitattributes"])
    return attributes.value(name, "linguist-generated") is False
