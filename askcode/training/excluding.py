"""Keep chosen projects out of the training data: by package, by path and by matching docs."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST_FILE = HERE / "excluded.toml"
PRINTS_FILE = HERE / "excluded_docs.bin"

# 40 bits: of a million docs, about one in thirty runs would lose one by chance.
PRINT_BYTES = 5
# A shorter doc ("Returns the name") is written alike by many.
MIN_PRINT_WORDS = 6
# So many docs in one file that an excluded project has too make it a copy.
MAX_MATCHES_PER_FILE = 2

_MARKS_BEFORE = re.compile(
    r"^(?:@|python3?-|py-|ruby-|golang-(?:github-)?|go-|php-|lib(?=\w+-(?:dev|java))|librust-"
    r"|rust-|node-)"
)
_MARKS_AFTER = re.compile(
    r"(?:[-_](?:dev|java|py|python|rb|rs|php|js|go|cpp|src|master|main)|\.js)$"
)
_VERSION = re.compile(r"[-_@]v?\d[\w.+~-]*$|(?<=[a-z])\d+$")

# Guides are of a project whichever language it is in.
_CODE = frozenset(
    "python javascript typescript tsx go rust java c cpp ruby php c_sharp".split()  # noqa: SIM905
)


class ExclusionFailed(Exception):
    """Training data holds something of an excluded project."""


@dataclass(frozen=True)
class Exclusion:
    """The names and the docs that must not be in the training data."""

    names: frozenset[str]
    only: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Languages in which a name counts, when it does not in all."""
    prints: frozenset[bytes] = frozenset()

    @cached_property
    def _plain_names(self) -> dict[str, str]:
        return {plain_name(name): name for name in self.names}

    def refuses_package(self, name: str) -> bool:
        """Return whether a package's name, scope or words of it name an excluded project.

        Extensions of a project (`flask-login`) are refused with it: they bring parts of it along.
        """
        words = [plain_name(word) for word in re.split(r"[-_./:@]+", name) if word]
        words += [word.removeprefix("lib") for word in words]
        joined = [one + two for one, two in pairwise(words)]
        return not self._plain_names.keys().isdisjoint([plain_name(name), *words, *joined])

    def refuses_path(self, path: str, language: str) -> bool:
        """Return whether a folder or the file itself is named for an excluded project."""
        *folders, file = path.split("/")
        parts = [*folders, file.rsplit(".", 1)[0]]
        parts.append(".".join(folders))
        return any(self._is_named(part, language) for part in parts if part)

    def _is_named(self, part: str, language: str) -> bool:
        plain = plain_name(part)
        name = self._plain_names.get(plain)
        if name is None:
            return False
        if plain not in self.only:
            return True
        return language in self.only[plain] or language not in _CODE

    def knows_doc(self, text: str) -> bool:
        """Return whether an excluded project has a doc comment of the same words."""
        found = doc_print(text)
        return found is not None and found in self.prints


def load_exclusion(list_file: Path = LIST_FILE, prints_file: Path = PRINTS_FILE) -> Exclusion:
    """Read the list and the prints that stand in the package."""
    table = tomllib.loads(list_file.read_text("utf-8"))
    names = {name for names in table["projects"].values() for name in names}
    names |= {name for names in table.get("aliases", {}).values() for name in names}
    only = {
        plain_name(name): frozenset(languages) for name, languages in table.get("only", {}).items()
    }
    return Exclusion(frozenset(names), only, read_prints(prints_file))


def plain_name(name: str) -> str:
    """Return a package's or folder's name without case, separators, version and common marks.

    >>> plain_name("golang-github-gin-gonic"), plain_name("Guzzle"), plain_name("jinja2")
    ('gingonic', 'guzzle', 'jinja')
    """
    plain = name.lower()
    plain = _VERSION.sub("", plain) or plain
    plain = _MARKS_BEFORE.sub("", plain)
    plain = _MARKS_AFTER.sub("", _MARKS_AFTER.sub("", plain))
    plain = _VERSION.sub("", plain) or plain
    return re.sub(r"[-_.]", "", plain)


def doc_print(text: str) -> bytes | None:
    """Return the digest of a doc's words, or None when it has too few to tell it from others."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    if len(words) < MIN_PRINT_WORDS:
        return None
    return hashlib.blake2b(" ".join(words).encode(), digest_size=PRINT_BYTES).digest()


def read_prints(path: Path) -> frozenset[bytes]:
    """Read digests, one after the other."""
    data = path.read_bytes()
    return frozenset(data[i : i + PRINT_BYTES] for i in range(0, len(data), PRINT_BYTES))


def write_prints(path: Path, docs: Iterable[str]) -> int:
    """Write the digests of docs in order; return how many."""
    prints = sorted({found for text in docs if (found := doc_print(text)) is not None})
    path.write_bytes(b"".join(prints))
    return len(prints)


def is_copy(docs: Sequence[str], exclusion: Exclusion) -> bool:
    """Return whether a file has so many docs of an excluded project that it is a copy."""
    return sum(map(exclusion.knows_doc, docs)) > MAX_MATCHES_PER_FILE
