"""Check every place an answer cites against the excerpts it was given and the files on disk.

A slip with one possible meaning is repaired: a bare file name, `path#L10`, an excerpt number,
lines in words, a range that runs a little over its end. Whatever does not hold stays as the
model wrote it, marked, and is listed with its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from urllib.parse import unquote

from askcode.citation_forms import LineRange, Mention, find_mentions
from askcode.records import Citation, Excerpt

MARK = " [unverified]"
ReadLines = Callable[[str], "list[str] | None"]
# A range may run over the shown lines by one line or by a fifth, and is then narrowed: beyond
# that the model speaks of lines that it did not see.
OVERRUN_SHARE = 5

NOT_SHOWN = "the path is not among the excerpts"
AMBIGUOUS = "several excerpts have this file name"
OUTSIDE = "the lines are not inside the excerpts"
CHANGED = "the file changed since it was indexed"
GONE = "the file is gone or cannot be read"
NO_NUMBER = "there is no excerpt with this number"

_COMPLETED = "repaired: path completed"
_REWRITTEN = "repaired: form"
_BY_NUMBER = "repaired: excerpt number"
_NARROWED = "repaired: narrowed to the excerpt"
_REVERSED = "repaired: range reversed"


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer with its citations repaired or marked, and what the check found."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class _Shown:
    """The lines shown of each path, by number."""

    lines: Mapping[str, Mapping[int, str]]
    excerpts: Mapping[int, Excerpt]
    read_lines: ReadLines
    root: str
    disk: dict[str, list[str] | None] = field(default_factory=dict)

    def on_disk(self, path: str) -> list[str] | None:
        if path not in self.disk:
            self.disk[path] = self.read_lines(path)
        return self.disk[path]


def check_citations(
    text: str,
    excerpts: Sequence[Excerpt],
    *,
    read_lines: ReadLines,
    root: str = "",
    has_repositories: bool = False,
) -> CheckedText:
    """Return the answer with each citation as `path:start-end`, or marked where it fails.

    `read_lines` gives a file's lines as they are on disk, None when it is gone; `root` is the
    absolute path of the code base, allowed in front of a path. With repositories, the paths
    are `name:path`.

    Example: `see agent.py#L3` becomes `see src/agent.py:3-3` when one shown path ends so.
    """
    shown = _shown(excerpts, read_lines, root)
    mentions = find_mentions(text, shown.lines, root=root, has_repositories=has_repositories)
    pieces: list[str] = []
    citations: list[Citation] = []
    position = 0
    for start, group in groupby(mentions, key=lambda mention: mention.start):
        same = list(group)
        checked = [citation for mention in same for citation in _check(mention, shown)]
        pieces.append(text[position:start])
        written, position = _written(text, same[0], checked)
        pieces.append(written)
        citations += checked
    return CheckedText("".join(pieces) + text[position:], tuple(citations))


def summarize(citations: Iterable[Citation]) -> str:
    """Return the line that says how many citations hold."""
    held = [citation.valid for citation in citations]
    if not held:
        return "the answer cites no lines"
    return f"{sum(held)} of {len(held)} citations verified"


def unknown_identifiers(
    text: str, excerpts: Iterable[Excerpt], *, known: str = ""
) -> tuple[str, ...]:
    """Return the names in backticks that occur in no excerpt, nor in `known`, in order."""
    shown = "\n".join(f"{each.text}\n{each.symbol or ''}\n{each.path}" for each in excerpts)
    words = set(re.findall(r"\w+", f"{shown}\n{known}"))
    names = dict.fromkeys(match["name"] for match in _NAME.finditer(_without_fences(text)))
    return tuple(name for name in names if not set(re.findall(r"\w+", name)) <= words | _LITERALS)


# `name`, `Class.method()`, `module::function`, `--option-name` is left alone.
_NAME = re.compile(
    r"(?<!`)`(?P<name>[^\W\d]\w*(?:(?:\.|::|->|\#)[^\W\d]\w*)*)(?:\([^`\n]{0,80}\))?`(?!`)"
)
_LITERALS = frozenset({"True", "False", "None", "true", "false", "null", "nil", "self", "this"})
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)


def _without_fences(text: str) -> str:
    return _FENCED.sub("", text)


def _shown(excerpts: Sequence[Excerpt], read_lines: ReadLines, root: str) -> _Shown:
    lines: dict[str, dict[int, str]] = {}
    for excerpt in excerpts:
        numbered = enumerate(excerpt.text.split("\n"), start=excerpt.start_line)
        lines.setdefault(excerpt.path, {}).update(numbered)
    by_number = {excerpt.number: excerpt for excerpt in excerpts}
    return _Shown(lines, by_number, read_lines, root.rstrip("/"))


def _check(mention: Mention, shown: _Shown) -> list[Citation]:
    if mention.number is not None:
        return _check_number(mention.number, mention.ranges, shown)
    path, why = _resolve(mention, shown)
    if path is None:
        written = _plain_path(mention.path)
        return [Citation(written, *_ends(each), False, why) for each in mention.ranges]
    if not why and not mention.is_plain and not mention.is_fenced:
        why = _REWRITTEN
    return [_check_range(path, each, why, shown) for each in mention.ranges]


def _check_number(number: int, ranges: Sequence[LineRange], shown: _Shown) -> list[Citation]:
    excerpt = shown.excerpts.get(number)
    if excerpt is None:
        return [Citation(f"excerpt {number}", 0, 0, False, NO_NUMBER)]
    whole = LineRange(excerpt.start_line, excerpt.end_line)
    return [_check_range(excerpt.path, each, _BY_NUMBER, shown) for each in (ranges or (whole,))]


def _resolve(mention: Mention, shown: _Shown) -> tuple[str | None, str]:
    """Return the shown path that is meant and how it was found out, or None and why not."""
    written = _plain_path(mention.path)
    for path in (written, mention.path):
        if path in shown.lines:
            return path, ""
    bare = _without_root(written, shown.root)
    for same in (_normal, _folded):
        end = _slashed(same(bare))
        ends = [path for path in shown.lines if _ends_with(_slashed(same(path)), end)]
        whole = [path for path in ends if _slashed(same(path)) == end]
        found = whole or ends
        if len(found) > 1:
            found = [path for path in found if _holds_all(path, mention.ranges, shown)]
            if len(found) != 1:
                return None, AMBIGUOUS
        if found:
            return found[0], _COMPLETED
    return None, NOT_SHOWN


def _plain_path(path: str) -> str:
    """Undo how Markdown, Windows and link targets write a path."""
    path = re.sub(r"\\+([_*\[\]() ])", r"\1", path)
    path = re.sub(r"\\{1,2}", "/", path)
    return unquote(path, errors="surrogateescape") if "%" in path else path


def _without_root(path: str, root: str) -> str:
    path = path.removeprefix("./")
    for lead in (root + "/", root.rsplit("/", 1)[-1] + "/", "a/", "b/", "/"):
        if len(lead) < len(path) and path.startswith(lead):
            return path.removeprefix(lead)
    return path


def _slashed(path: str) -> str:
    """Write `name:path` of one repository of several like a folder, as models do."""
    return path.replace(":", "/")


def _ends_with(path: str, end: str) -> bool:
    return path == end or path.endswith("/" + end)


def _normal(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold()


def _holds_all(path: str, ranges: Iterable[LineRange], shown: _Shown) -> bool:
    return all(_check_range(path, each, "", shown).valid for each in ranges)


def _check_range(path: str, lines: LineRange, why: str, shown: _Shown) -> Citation:
    if lines.end < lines.start:
        return _check_reversed(path, lines, shown)
    inside = _narrowed(path, lines, shown)
    if inside is None:
        return Citation(path, lines.start, lines.end, False, OUTSIDE)
    problem = _freshness(path, inside, shown)
    if problem:
        return Citation(path, lines.start, lines.end, False, problem)
    return Citation(path, inside.start, inside.end, True, why if inside == lines else _NARROWED)


def _check_reversed(path: str, lines: LineRange, shown: _Shown) -> Citation:
    """Read `20-10` as 10-20, or `120-35` as 120-135: whichever alone holds."""
    short, start = str(lines.end), str(lines.start)
    readings = {LineRange(lines.end, lines.start)}
    if len(short) < len(start):
        readings.add(LineRange(lines.start, int(start[: -len(short)] + short)))
    checked = [
        _check_range(path, each, _REVERSED, shown) for each in readings if each.start <= each.end
    ]
    held = [citation for citation in checked if citation.valid]
    if len(held) == 1:
        return held[0]
    return Citation(path, lines.end, lines.start, False, OUTSIDE)


def _narrowed(path: str, lines: LineRange, shown: _Shown) -> LineRange | None:
    """Return the part of a range that was shown, None when too much of it was not.

    Blank lines belong to no chunk, so one between or behind shown lines counts as shown.
    """
    blank = [
        number
        for number, text in enumerate(shown.on_disk(path) or [], start=1)
        if not text.strip() and lines.start <= number <= lines.end
    ]
    inside = [number for number in shown.lines[path] if lines.start <= number <= lines.end]
    covered = sorted({*inside, *blank})
    total = lines.end - lines.start + 1
    outside = total - len(covered)
    if not inside or outside > max(1, total // OVERRUN_SHARE) or outside > len(inside):
        return None
    has_hole = covered[-1] - covered[0] + 1 > len(covered)
    return None if has_hole else LineRange(covered[0], covered[-1])


def _freshness(path: str, lines: LineRange, shown: _Shown) -> str:
    disk = shown.on_disk(path)
    if disk is None:
        return GONE
    for number, text in shown.lines[path].items():
        if lines.start <= number <= lines.end and (
            number > len(disk) or disk[number - 1].rstrip() != text.rstrip()
        ):
            return CHANGED
    return ""


def _ends(lines: LineRange) -> tuple[int, int]:
    return min(lines.start, lines.end), max(lines.start, lines.end)


def _written(text: str, mention: Mention, checked: Sequence[Citation]) -> tuple[str, int]:
    """Return what stands in the answer for a mention, and where the text goes on."""
    original = text[mention.start : mention.end]
    if mention.is_fenced:
        return original, mention.end
    if not any(citation.valid for citation in checked):
        closing = re.match(r"[`*_\"'”’»」』]*", text[mention.end :])
        end = mention.end + (closing.end() if closing else 0)
        return text[mention.start : end] + MARK, end
    places = ", ".join(
        f"{each.path}:{each.start_line}-{each.end_line}{'' if each.valid else MARK}"
        for each in checked
    )
    return mention.before + places + mention.after, mention.end
