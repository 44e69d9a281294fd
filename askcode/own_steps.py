"""Find and load the steps that installed packages add behind entry points: plain functions.

    askcode.files      (path: str) -> str | bool | None     None or True keeps the file, a text
                                                             is the reason to leave it out
    askcode.metadata   (chunk: Chunk) -> str | None          what else the chunk is found by
    askcode.queries    (question: str) -> Iterable[str]      what else to search for

Paths and chunks are those of askcode.records. What a step prints goes to stderr.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from askcode.cleaning_replies import shortened
from askcode.errors import StepError
from askcode.records import digest_text

FILES, METADATA, QUERIES = "askcode.files", "askcode.metadata", "askcode.queries"
GROUPS = (FILES, METADATA, QUERIES)

# Kinds of metadata that askcode itself gives have no such sign.
_KIND_SIGN = "@"
_NOT_IN_KINDS = re.compile(r"[^\w.+@-]")
_DIGEST_CHARACTERS = 8
_MAX_ERROR_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class OwnStep:
    """A step as its package names it."""

    group: str
    name: str
    package: str
    version: str
    target: str
    """`module:function`."""

    @property
    def title(self) -> str:
        """Return how messages call it: `own step tickets (shop-steps 1.0)`."""
        return f"own step {self.name} ({self.package} {self.version})"

    @property
    def hint(self) -> str:
        """Return what to do about a step that fails."""
        return f"mend or uninstall {self.package}; --debug shows where it failed"


@dataclass(frozen=True, slots=True)
class LoadedStep:
    """A step with its function."""

    step: OwnStep
    function: Callable[..., object]
    file: str
    """The source file of the function, or empty where it has none."""
    digest: str
    """Of package, version, name, target and source file."""

    @property
    def kind(self) -> str:
        """Return the metadata kind of what this very version says: `tickets@1.0+3f9a1c2b`."""
        said = f"{self.step.name}{_KIND_SIGN}{self.step.version}+{self.digest[:_DIGEST_CHARACTERS]}"
        # a store may list kinds with commas between them
        return _NOT_IN_KINDS.sub("_", said)


def is_own_kind(kind: str) -> bool:
    """Return whether a metadata kind is that of an own step."""
    return _KIND_SIGN in kind


def installed_steps() -> list[OwnStep]:
    """Return the steps of all groups, by group, name and package; nothing of them is loaded."""
    return [step for _, step in _found(GROUPS)]


def load_steps(group: str) -> tuple[LoadedStep, ...]:
    """Load the functions of a group, in the order of their names.

    Raises:
        StepError: one cannot be loaded.
    """
    return tuple(_loaded(entry, step) for entry, step in _found((group,)))


def shown_error(error: BaseException) -> str:
    """Return an error of a step in one line: its type and what it says."""
    said = " ".join(str(error).split())
    name = type(error).__name__
    return shortened(f"{name}: {said}" if said else name, _MAX_ERROR_CHARACTERS)


def _found(groups: Sequence[str]) -> list[tuple[metadata.EntryPoint, OwnStep]]:
    found = [
        (entry, OwnStep(group, entry.name, *_origin(entry), entry.value))
        for group in groups
        for entry in metadata.entry_points(group=group)
    ]
    return sorted(found, key=lambda one: (one[1].group, one[1].name, one[1].package))


def _origin(entry: metadata.EntryPoint) -> tuple[str, str]:
    """Return the package of an entry point and its version."""
    if entry.dist is None:
        return "unknown package", "0"
    return entry.dist.name or "unknown package", entry.dist.version or "0"


def _loaded(entry: metadata.EntryPoint, step: OwnStep) -> LoadedStep:
    try:
        with redirect_stdout(sys.stderr):
            function = entry.load()
    except (Exception, SystemExit) as error:
        # a stranger's module may raise anything
        raise StepError(
            f"the {step.title} cannot be loaded from {step.target}: {shown_error(error)}",
            hint=step.hint,
        ) from error
    if not callable(function):
        raise StepError(
            f"the {step.title} is no function: {step.target} is of type {type(function).__name__}",
            hint=step.hint,
        )
    file = _source_file(function)
    source = Path(file).read_bytes().decode("utf-8", "replace") if file else ""
    identity = (step.package, step.version, step.name, step.target, source)
    return LoadedStep(step, function, file, digest_text(*identity))


def _source_file(function: Callable[..., object]) -> str:
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        # an instance of a class: the class has a file, where it is not built in
        try:
            file = inspect.getsourcefile(type(function))
        except TypeError:
            file = None
    return file if file and Path(file).is_file() else ""
