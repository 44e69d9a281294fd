"""Read the places that a pasted stack trace or compiler message names.

>>> read_places('File "/srv/app/lib/jobs.py", line 12, in run')
[Place(path='/srv/app/lib/jobs.py', line=12)]
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from askcode.repositories import path_below

_PYTHON_TRACE = "Traceback (most recent call last)"

# More places than this are a log, and each costs a look into the index.
MAX_PLACES = 12

_PATH = r"(?P<path>(?:[A-Za-z]:)?[\w@+.~/\\-]*[\w@+~-]\.[A-Za-z]\w{0,9})"
_FORMS = (
    re.compile(r"[\"'](?P<path>[^\"'\n]+\.\w{1,10})[\"'], line (?P<line>\d+)"),  # Python
    re.compile(_PATH + r"\((?P<line>\d+)(?:[,:]\d+)?\)"),  # MSVC, C#, PHP, Java's (App.java:12)
    re.compile(_PATH + r":(?:line )?(?P<line>\d+)"),  # Go, Rust, JavaScript, Ruby, gcc, Java
    re.compile(_PATH + r",? (?:on )?line (?P<line>\d+)"),  # PHP, Perl
    re.compile(_PATH + r"#L(?P<line>\d+)"),  # links
)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, as a text names it: often by an absolute path of another machine."""

    path: str
    line: int

    @property
    def name(self) -> str:
        """Return the file's own name."""
        return PurePosixPath(self.path).name


def read_places(text: str) -> list[Place]:
    """Return the places in a text, each once, the innermost call of a trace first."""
    found = [
        (match.start(), Place(_tidy(match["path"]), int(match["line"][:9])))
        for form in _FORMS
        for match in form.finditer(text)
    ]
    places = list(dict.fromkeys(place for _, place in sorted(found, key=lambda one: one[0])))
    # the other languages print the innermost call first
    return (places[::-1] if _PYTHON_TRACE in text else places)[:MAX_PLACES]


def best_paths(place: Place, paths: Collection[str]) -> list[str]:
    """Return those paths that share the longest end with the place's, all parts compared.

    Of a path with folders the name alone is not enough: a library has an app.py too.
    """
    parts = PurePosixPath(place.path).parts
    shared = {}
    for path in paths:
        own = PurePosixPath(path_below(path)).parts
        count = _shared_end(own, parts)
        if count >= min(2, len(parts), len(own)):
            shared[path] = count
    most = max(shared.values(), default=0)
    return sorted(path for path, count in shared.items() if count == most)


def _tidy(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _shared_end(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count
