"""Find, override, check and render the prompts."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType

from jinja2 import FunctionLoader, StrictUndefined, TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import SandboxedEnvironment

from askcode.errors import UsageError
from askcode.records import digest_text

SUFFIX = ".j2"
BOUNDARY_BYTES = 8
"""64 unguessable bits: a file would have to hold the right one of 2**64 to close its frame."""
RENDER_ERRORS = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
"""What a wrong expression in a template can raise, besides an unknown variable."""


@dataclass(frozen=True, slots=True)
class Part:
    """One chunk in a prompt about several: `number` counts from 1."""

    number: int
    symbol: str
    signature: str
    code: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an excerpt with its number in the file."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of the same conversation and its answer."""

    question: str
    answer: str


def numbered_lines(text: str, *, first: int) -> list[Line]:
    """Return the lines of a text with their numbers, as the excerpt prompt takes them."""
    return [Line(first + offset, line) for offset, line in enumerate(text.split("\n"))]


_PARTS = (Part(1, "area", "def area(w, h)", "return w * h"), Part(2, "", "", "LIMIT = 3"))
_QUESTIONS = {
    "path": "src/shapes.py",
    "language": "python",
    "count": 3,
    "boundary": "0a1b2c3d4e5f6071",
    "parts": _PARTS,
    "again": True,
}
_NOTE = {
    "path": "src/shapes.py",
    "language": "python",
    "boundary": "0a1b2c3d4e5f6071",
    "symbol": "area",
    "signature": "def area(w, h)",
    "code": "return w * h",
    "again": True,
}
_ASKED = {"question": "How is the area computed?", "boundary": "0a1b2c3d4e5f6071"}
VARIABLES: Mapping[str, Mapping[str, object]] = {
    "answer": {**_ASKED, "excerpts": ("[1] src/shapes.py:1-2",)},
    "answer_system": {},
    "describe_system": {},
    "excerpt": {
        "number": 1,
        "path": "src/shapes.py",
        "start_line": 1,
        "end_line": 2,
        "language": "python",
        "symbol": "area",
        "lines": (Line(1, "def area(w, h):"), Line(2, "    return w * h")),
    },
    "keywords": _NOTE,
    "questions": _QUESTIONS,
    "questions_prose": _QUESTIONS,
    "standalone": {**_ASKED, "turns": (Turn("What is area?", "A function."),)},
    "subquestions": {**_ASKED, "count": 5},
    "summary": _NOTE,
    "title": _NOTE,
    "widen_system": {},
}
"""The variables of each prompt, with sample values that a check renders it with."""


class Prompts:
    """The built-in prompts, each replaced by a file of the same name in the user's folder."""

    def __init__(self, override_dir: Path | None = None, *, key: bytes | None = None) -> None:
        self._override_dir = override_dir
        # drawn anew in each process, so that no file written before can hold its own boundary
        self._key = key or secrets.token_bytes(16)
        self._sources: dict[str, str] = {}
        self._environment = SandboxedEnvironment(
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            loader=FunctionLoader(self._load),
        )

    def names(self) -> tuple[str, ...]:
        """Return the names of all prompts, sorted."""
        return tuple(sorted(VARIABLES))

    def source(self, name: str) -> str:
        """Return the template as it is in use.

        Raises:
            UsageError: there is no such prompt, or its file cannot be read.
        """
        if name not in self._sources:
            self._sources[name] = _read(self.path(name))
        return self._sources[name]

    def path(self, name: str) -> Path:
        """Return the file a prompt comes from: the user's, or the built-in one.

        Raises:
            UsageError: there is no such prompt.
        """
        if name not in VARIABLES:
            raise UsageError(f"there is no prompt {name!r}", hint=f"prompts: {_listing()}")
        overriding = self._override_dir / (name + SUFFIX) if self._override_dir else None
        if overriding is not None and overriding.is_file():
            return overriding
        return _built_in_dir() / (name + SUFFIX)

    def digest(self, name: str) -> str:
        """Return the digest of the template as it is in use."""
        return digest_text(self.source(name))

    def render(self, name: str, **values: object) -> str:
        """Return a prompt with its values put in, each exactly as given.

        Raises:
            UsageError: the template is broken or uses an unknown variable.
        """
        self.source(name)
        try:
            text = self._environment.get_template(name).render(values)
        except RENDER_ERRORS as error:
            raise self._failure(name, error) from error
        return _encodable(text.rstrip("\n"))

    def boundary(self, *texts: str) -> str:
        """Return an identifier that none of the texts contains and no author could foresee."""
        state = blake2b(key=self._key, digest_size=BOUNDARY_BYTES)
        for text in texts:
            state.update(text.encode("utf-8", "surrogatepass"))
        while any(state.hexdigest() in text for text in texts):
            state.update(b"again")
        return state.hexdigest()

    def check(self) -> None:
        """Compile and try every prompt, so that a broken one shows before the first call.

        Raises:
            UsageError: names the file and the line of the first thing wrong.
        """
        self._check_override_names()
        for name, samples in sorted(VARIABLES.items()):
            self._check_variables(name)
            self.render(name, **samples)

    def export(self, directory: Path) -> list[Path]:
        """Write the built-in prompts into a directory and return the files.

        Raises:
            UsageError: a file is there already, or the directory cannot be written.
        """
        targets = {directory / (name + SUFFIX): name for name in self.names()}
        existing = [path for path in targets if path.exists() or path.is_symlink()]
        if existing:
            raise UsageError(
                f"{existing[0]} exists already; nothing was exported",
                hint="choose an empty directory, or move the files in it away",
            )
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for path, name in targets.items():
                with path.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(_read(_built_in_dir() / (name + SUFFIX)))
        except OSError as error:
            raise UsageError(f"cannot write prompts to {directory}: {error.strerror}") from error
        return list(targets)

    def _load(self, name: str) -> tuple[str, str, None] | None:
        return (self.source(name), str(self.path(name)), None) if name in VARIABLES else None

    def _check_override_names(self) -> None:
        if self._override_dir is None or not self._override_dir.is_dir():
            return
        for path in sorted(self._override_dir.glob("*" + SUFFIX)):
            if path.name.removesuffix(SUFFIX) not in VARIABLES:
                raise UsageError(f"{path}: there is no such prompt", hint=f"prompts: {_listing()}")

    def _check_variables(self, name: str) -> None:
        try:
            tree = self._environment.parse(self.source(name), name, str(self.path(name)))
            unknown = meta.find_undeclared_variables(tree) - VARIABLES[name].keys()
        except TemplateSyntaxError as error:
            raise self._failure(name, error) from error
        unknown -= self._environment.globals.keys()
        for node in tree.find_all(nodes.Name):
            if node.name in unknown and node.ctx == "load":
                raise self._unknown_variable(name, node.name, node.lineno)

    def _unknown_variable(self, name: str, variable: str, line: int) -> UsageError:
        known = ", ".join(sorted(VARIABLES[name])) or "none"
        return UsageError(
            f"{self.path(name)}, line {line}: unknown variable {variable!r}",
            hint=f"variables of the prompt {name}: {known}",
        )

    def _failure(self, name: str, error: Exception) -> UsageError:
        line = _line_of(error, str(self.path(name)))
        message = getattr(error, "message", None) or str(error)
        return UsageError(
            f"{self.path(name)}, line {line}: {message}",
            hint=f"variables of the prompt {name}: {', '.join(sorted(VARIABLES[name])) or 'none'}",
        )


def _built_in_dir() -> Path:
    here = Path(__file__).parent
    packaged = here / "prompts"
    return packaged if packaged.is_dir() else here.parent / "prompts"


def _listing() -> str:
    return ", ".join(sorted(VARIABLES))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the prompt {path}: {error}") from error


def _encodable(text: str) -> str:
    """Write lone surrogates, as in file names that are not UTF-8, as backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _line_of(error: Exception, filename: str) -> int:
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    lines = [line for name, line in _frames(error.__traceback__) if name == filename]
    return lines[-1] if lines else 1


def _frames(traceback: TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
