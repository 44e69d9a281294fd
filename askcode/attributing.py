"""Read what `.gitattributes` say of a file: generated, vendored, or expressly not.

Source: gitattributes(5); the attributes are those of the linguist project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from askcode.ignoring import MAX_IGNORE_FILE_BYTES, glob_regex
from askcode.reading import read_bytes

_NAMES = ("linguist-generated", "linguist-vendored")
_FILE = ".gitattributes"
_LINE = re.compile(rb'\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)')


@dataclass(frozen=True, slots=True)
class _Rule:
    base: bytes
    regex: re.Pattern[bytes]
    in_any_folder: bool
    name: str
    value: bool | None
    """None for an attribute that is made unspecified again."""

    def matches(self, path: bytes) -> bool:
        below = path[len(self.base) :]
        name = below.rpartition(b"/")[2]
        return path.startswith(self.base) and bool(
            self.regex.fullmatch(name if self.in_any_folder else below)
        )


class Attributes:
    """The linguist attributes of the files below a root."""

    def __init__(self, root: Path, paths: Iterable[bytes]) -> None:
        folders = {path.rpartition(b"/")[0] for path in paths if path.endswith(_FILE.encode())}
        # the deepest file first, and in a file the last line
        self._rules = [
            rule
            for folder in sorted(folders, key=lambda folder: (-folder.count(b"/"), -len(folder)))
            for rule in _rules(root, folder)
        ]

    def value(self, path: bytes, name: str) -> bool | None:
        """Return whether a file has an attribute, None when nothing is said."""
        for rule in self._rules:
            if rule.name == name and rule.matches(path):
                return rule.value
        return None


def _rules(root: Path, folder: bytes) -> list[_Rule]:
    base = folder + b"/" if folder else b""
    place = base.decode("utf-8", "surrogateescape") + _FILE
    data = read_bytes(root, place, max_bytes=MAX_IGNORE_FILE_BYTES)
    if not isinstance(data, bytes) or b"linguist-" not in data:
        return []
    found: list[_Rule] = []
    for line in data.removeprefix(b"\xef\xbb\xbf").splitlines():
        found = [*_line_rules(line, base), *found]
    return found


def _line_rules(line: bytes, base: bytes) -> list[_Rule]:
    parts = _LINE.match(line)
    if not parts or line.lstrip().startswith((b"#", b"[attr]", b"!")):
        return []
    pattern = re.sub(rb"\\(.)", rb"\1", parts[1]) if parts[1] is not None else parts[2]
    regex = None if pattern.endswith(b"/") else glob_regex(pattern.removeprefix(b"/"))
    if regex is None:
        return []
    in_any_folder = b"/" not in pattern
    return [
        _Rule(base, regex, in_any_folder, name, value)
        for attribute in reversed(parts[3].split())
        for name, value in [_attribute(attribute.decode("utf-8", "replace"))]
        if name in _NAMES
    ]


def _attribute(text: str) -> tuple[str, bool | None]:
    if text.startswith("-"):
        return text[1:], False
    if text.startswith("!"):
        return text[1:], None
    name, _, value = text.partition("=")
    return name, value.lower() != "false"
