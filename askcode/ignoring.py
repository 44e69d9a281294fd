"""Match paths against ignore files, with git's own semantics.

Paths and patterns are bytes, as they are for git: `?` is one byte, names need no encoding.

Source: gitignore(5), and git's wildmatch for what the page leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from askcode.reading import read_bytes

# An ignore file is written by hand; anything longer is none.
MAX_IGNORE_FILE_BYTES = 4 * 1024**2

_POSIX_CLASSES = {
    b"alnum": rb"0-9A-Za-z", b"alpha": rb"A-Za-z", b"blank": rb" \t", b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9", b"graph": rb"!-~", b"lower": rb"a-z", b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~", b"space": rb" \t\n\r\f\v", b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}  # fmt: skip
_SPECIAL = re.compile(rb"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file."""

    regex: re.Pattern[bytes]
    is_negated: bool
    only_folders: bool
    in_any_folder: bool
    """Whether it is matched against the name alone (no slash but a last one)."""


@dataclass(frozen=True, slots=True)
class PatternList:
    """The patterns of one ignore file: the last one that matches decides."""

    base: bytes
    """The folder of the file with a slash, or nothing for the root."""
    patterns: tuple[Pattern, ...]
    """The last one first."""

    def verdict(self, path: bytes, *, is_folder: bool) -> bool | None:
        """Return whether a path below the base is ignored, None when nothing matches."""
        below = path[len(self.base) :]
        name = path.rpartition(b"/")[2]
        for pattern in self.patterns:
            if pattern.only_folders and not is_folder:
                continue
            if pattern.regex.fullmatch(name if pattern.in_any_folder else below):
                return not pattern.is_negated
        return None

    def covers(self, path: bytes) -> bool:
        """Return whether a file or a folder above it is ignored by this list alone."""
        place = path.find(b"/", len(self.base))
        while place >= 0:
            if self.verdict(path[:place], is_folder=True):
                return True
            place = path.find(b"/", place + 1)
        return bool(self.verdict(path, is_folder=False))


class IgnoreFiles:
    """The ignore files of one name in a tree: a deeper one beats a higher one."""

    def __init__(
        self,
        root: Path,
        name: str,
        *,
        weaker: Sequence[PatternList] = (),
        ignore_case: bool = False,
    ) -> None:
        self._root = root
        self._name = name
        self._ignore_case = ignore_case
        self._lists: dict[bytes, tuple[PatternList, ...]] = {}
        self._hidden: dict[bytes, bool] = {b"": False}
        self._weaker = tuple(weaker)

    def ignores(self, path: bytes, *, is_folder: bool) -> bool:
        """Return whether a path is ignored by itself, wherever its folders stand."""
        for patterns in self._chain(path.rpartition(b"/")[0]):
            verdict = patterns.verdict(path, is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False

    def hides(self, path: bytes, *, is_folder: bool = False) -> bool:
        """Return whether a path or a folder above it is ignored: nothing brings that back."""
        if is_folder and path in self._hidden:
            return self._hidden[path]
        folder = path.rpartition(b"/")[0]
        hidden = self.hides(folder, is_folder=True) or self.ignores(path, is_folder=is_folder)
        if is_folder:
            self._hidden[path] = hidden
        return hidden

    def _chain(self, folder: bytes) -> tuple[PatternList, ...]:
        """Return the lists that speak about a folder's entries, the strongest first."""
        if folder not in self._lists:
            above = self._weaker if not folder else self._chain(folder.rpartition(b"/")[0])
            own = self._read(folder)
            self._lists[folder] = (own, *above) if own.patterns else above
        return self._lists[folder]

    def _read(self, folder: bytes) -> PatternList:
        base = folder + b"/" if folder else b""
        path = base.decode("utf-8", "surrogateescape") + self._name
        data = read_bytes(self._root, path, max_bytes=MAX_IGNORE_FILE_BYTES)
        patterns = data if isinstance(data, bytes) else b""
        return PatternList(base, parse_patterns(patterns, ignore_case=self._ignore_case))


def parse_patterns(data: bytes, *, ignore_case: bool = False) -> tuple[Pattern, ...]:
    """Parse the content of an ignore file; the last pattern comes first."""
    found = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = _trimmed(line.removesuffix(b"\r").partition(b"\0")[0])
        if text and not text.startswith(b"#"):
            found.append(_pattern(text, ignore_case=ignore_case))
    return tuple(pattern for pattern in reversed(found) if pattern)


def glob_regex(pattern: bytes, *, ignore_case: bool = False) -> re.Pattern[bytes] | None:
    """Translate a glob in which `*` stays within a folder and `**` does not.

    None when it can match nothing (an unclosed class, a backslash at the end).
    """
    # git compares what stands before the first wildcard by itself, so that a "**" right
    # after it counts as one at the start
    special = _SPECIAL.search(pattern)
    literal = special.start() if special else len(pattern)
    rest = _translate(pattern[literal:])
    if rest is None:
        return None
    return re.compile(re.escape(pattern[:literal]) + rest, re.DOTALL | _flags(ignore_case))


def _flags(ignore_case: bool) -> int:
    return re.IGNORECASE if ignore_case else 0


def _trimmed(line: bytes) -> bytes:
    """Cut blanks at the end that no backslash keeps; a tab is no blank."""
    cut = line.rstrip(b" ")
    backslashes = len(cut) - len(cut.rstrip(b"\\"))
    return cut + b" " if backslashes % 2 and cut != line else cut


def _pattern(text: bytes, *, ignore_case: bool) -> Pattern | None:
    is_negated = text.startswith(b"!")
    body = text[1:] if is_negated else text
    only_folders = body.endswith(b"/")
    body = body[:-1] if only_folders else body
    in_any_folder = b"/" not in body
    regex = glob_regex(body.removeprefix(b"/"), ignore_case=ignore_case) if body else None
    return Pattern(regex, is_negated, only_folders, in_any_folder) if regex else None


def _translate(pattern: bytes) -> bytes | None:
    out: list[bytes] = []
    place = 0
    star = -1
    while place < len(pattern):
        character = pattern[place : place + 1]
        if character == b"*":
            end = place + len(re.match(rb"\*+", pattern[place:])[0])  # type: ignore[index]
            if _spans_folders(pattern, place, end):
                star = -1
                out.append(b"(?:.*/)?" if end < len(pattern) else b".*")
                end += pattern[end : end + 1] == b"/"
            else:
                # the shortest way to the next star is as good as any: no backtracking into it
                if star >= 0:
                    out[star:] = [b"(?>" + out[star] + b"?" + b"".join(out[star + 1 :]) + b")"]
                star = len(out)
                out.append(b"[^/]*")
            place = end
            continue
        piece = _piece(pattern, place)
        if piece is None:
            return None
        star = -1 if piece.text == b"/" else star
        out.append(piece.text)
        place = piece.end
    return b"".join(out)


def _spans_folders(pattern: bytes, start: int, end: int) -> bool:
    """Return whether a run of stars is a "**" between slashes or ends."""
    before = start == 0 or pattern[start - 1 : start] == b"/"
    after = end == len(pattern) or pattern[end : end + 1] == b"/"
    return end - start > 1 and before and after


@dataclass(frozen=True, slots=True)
class _Piece:
    text: bytes
    end: int


def _piece(pattern: bytes, place: int) -> _Piece | None:
    character = pattern[place : place + 1]
    if character == b"?":
        return _Piece(b"[^/]", place + 1)
    if character == b"[":
        return _class(pattern, place + 1)
    if character == b"\\":
        escaped = pattern[place + 1 : place + 2]
        return _Piece(re.escape(escaped), place + 2) if escaped else None
    return _Piece(re.escape(character), place + 1)


def _class(pattern: bytes, place: int) -> _Piece | None:
    """Translate a bracket expression that begins before a place."""
    is_negated = pattern[place : place + 1] in (b"!", b"^")
    place += is_negated
    members: list[bytes] = []
    previous: int | None = None
    is_first = True
    while is_first or pattern[place : place + 1] != b"]":
        is_first = False
        if place >= len(pattern):
            return None
        named = re.match(rb"\[:([^\]]*):\]", pattern[place:])
        if named:
            if named[1] not in _POSIX_CLASSES:
                return None
            members.append(_POSIX_CLASSES[named[1]])
            previous, place = None, place + named.end()
            continue
        is_range = (
            pattern[place : place + 1] == b"-"
            and previous is not None
            and pattern[place + 1 : place + 2] not in (b"]", b"")
        )
        place += is_range
        place += pattern[place : place + 1] == b"\\"
        if place >= len(pattern):
            return None
        code = pattern[place]
        low = previous if is_range and previous is not None else code
        if low <= code:
            members.append(b"\\x%02x-\\x%02x" % (low, code))
        previous, place = None if is_range else code, place + 1
    inside = b"".join(members)
    if is_negated:
        return _Piece(b"[^/" + inside + b"]", place + 1)
    return _Piece(b"(?!/)[" + inside + b"]" if inside else b"(?!)", place + 1)
