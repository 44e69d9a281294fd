"""Turn path globs into regular expressions, by the rules of ignore files.

- Without a slash, a glob fits a name at any depth: `*.py`, `tests`.
- With a slash inside or in front, it starts at the root: `src/**/*.py`, `/setup.py`.
- `*` and `?` stop at slashes, `**` does not; `[a-z]` and `[!a-z]` are classes, a backslash
  takes the next character as it is.
- A glob that fits a folder fits all below it; with a slash at its end it fits folders only.
- A leading `!` takes paths out again, whatever the order; with only such globs, all other
  paths are let through.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

# Rust reads \\< and \\> as word boundaries, so these stay bare; Python knows neither.
_ESCAPED = frozenset(string.punctuation) - frozenset("<>_")
_NOTHING = r"[^\s\S]"


@dataclass(frozen=True, slots=True)
class PathRule:
    """Which paths a list of globs lets through.

    The expressions are for whole paths and use only what the regular expressions of Python
    and Rust share; None means no limit.
    """

    wanted: str | None
    unwanted: str | None

    def allows(self, path: str) -> bool:
        """Return whether a path is let through."""
        if self.wanted is not None and not re.fullmatch(self.wanted, path):
            return False
        return self.unwanted is None or not re.fullmatch(self.unwanted, path)


def path_rule(globs: Sequence[str]) -> PathRule:
    """Return the rule for a list of globs; an empty list lets everything through."""
    wanted = [glob_regex(glob) for glob in globs if not glob.startswith("!")]
    unwanted = [glob_regex(glob[1:]) for glob in globs if glob.startswith("!")]
    return PathRule(_any_of(wanted), _any_of(unwanted))


def literal_glob(path: str) -> str:
    """Return a glob part that fits a path, or a name, and nothing else."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", path)


def glob_regex(glob: str) -> str:
    """Return a regular expression for the whole of each path that the glob fits."""
    body = glob.removeprefix("./")
    folders_only = body.endswith("/")
    body = body.rstrip("/")
    parts = [part for part in body.split("/") if part not in ("", ".")]
    if not parts:
        return "(?s:.*)"
    prefix = "" if "/" in body else "(?:.*/)?"
    suffix = "/.*" if folders_only else "(?:/.*)?"
    return f"(?s:{prefix}{_joined(parts)}{suffix})"


def _any_of(expressions: Sequence[str]) -> str | None:
    return "|".join(expressions) or None


def _joined(parts: Sequence[str]) -> str:
    *folders, name = parts
    head = "".join("(?:.*/)?" if part == "**" else _part_regex(part) + "/" for part in folders)
    return head + (".+" if name == "**" else _part_regex(name))


def _part_regex(part: str) -> str:
    pieces = []
    place = 0
    while place < len(part):
        letter = part[place]
        place += 1
        if letter == "*":
            pieces.append("[^/]*")
        elif letter == "?":
            pieces.append("[^/]")
        elif letter == "[" and (end := _class_end(part, place)):
            pieces.append(_class_regex(part[place:end]))
            place = end + 1
        elif letter == "\\" and place < len(part):
            pieces.append(_literal(part[place]))
            place += 1
        else:
            pieces.append(_literal(letter))
    return "".join(pieces)


def _class_end(part: str, start: int) -> int:
    """Return where the bracket closes, or 0; right after the start it stands for itself."""
    first = start + 1 if part[start : start + 1] in ("!", "^") else start
    return max(part.find("]", first + 1), 0)


def _class_regex(body: str) -> str:
    negated = body[0] in "!^"
    letters = body[1:] if negated else body
    members = ""
    place = 0
    while place < len(letters):
        first = last = letters[place]
        if letters[place + 1 : place + 2] == "-" and place + 2 < len(letters):
            last = letters[place + 2]
            place += 2
        if first <= last:
            members += _literal(first) + (f"-{_literal(last)}" if last != first else "")
        place += 1
    if negated:
        return f"[^/{members}]"
    return f"[{members}]" if members else _NOTHING


def _literal(letter: str) -> str:
    return f"\\{letter}" if letter in _ESCAPED else letter
