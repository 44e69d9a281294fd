"""Find the places an answer names, in whatever form and language the model wrote them.

Two searches, since a path may hold blanks, brackets or any letter: first for the paths that
were shown, spelled in full or by their end; then for anything else that looks like a path
with lines, so that an invented one does not pass unseen. URLs, times, `std::vector`,
`localhost:8080` and versions are not places.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from askcode.citation_words import (
    CJK_PARTICLE,
    CJK_UNIT,
    EXCERPT_WORD,
    LINE_WORD,
    LIST_WORD,
    OF_WORD,
    RANGE_WORD,
)
from askcode.path_names import looks_like_path


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines as written: `end` may lie before `start`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A place named at `text[start:end]`, by path and lines or by excerpt number."""

    start: int
    end: int
    path: str = ""
    ranges: tuple[LineRange, ...] = ()
    number: int | None = None
    before: str = ""
    """Marks and words that stay in front of the place when it is written anew."""
    after: str = ""
    is_plain: bool = False
    """Whether it is written as `path:lines`."""
    is_fenced: bool = False
    """Whether it stands in a code block, which is never rewritten."""


# Thai, Lao, Burmese, Khmer, Chinese, Japanese and Korean do not set blanks around a path.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\uffef"
# A path in Latin letters may follow any other script at once, as in "وsrc/a.py" or "在src/a.py".
# An underscore may be emphasis, unless a word goes on before it.
_LATIN_START = r"(?<![A-Za-z0-9\u00aa-\u024f./\\+-])(?<!\w_)"
_OTHER_START = rf"(?<![^\W_{_UNSPACED}])(?<![./\\+-])(?<!\w_)"

_NUMBER = r"\d{1,9}+"
_DASH = "(?:[-‐‑‒–—―−－~～〜]|\\.{2,3}|…)"
_ITEM = rf"L?{_NUMBER}(?:{_DASH}L?{_NUMBER})?"
_FAR_ITEM = rf"L?{_NUMBER}{_DASH}L?{_NUMBER}"
_LIST = rf"{_ITEM}(?:[,，、;]{_ITEM}|[,，、;]\s{_FAR_ITEM})*+"
_PLACE = rf"{_NUMBER}:{_NUMBER}(?:{_DASH}{_NUMBER}:{_NUMBER})?"
_COLON = rf"[:：∶︰](?:{_PLACE}|{_LIST}|\s(?:{_FAR_ITEM}|L{_NUMBER}))"
_HASH = rf"\#(?:L{_NUMBER}(?:C\d+)?(?:{_DASH}L?{_NUMBER}(?:C\d+)?)?|{_ITEM}(?![-\w]))"
_WORDY_ITEM = rf"L?{_NUMBER}(?:\s?(?:{_DASH}|{RANGE_WORD})\s?(?:{LINE_WORD}\s?)?L?{_NUMBER})?"
_WORDY_LIST = rf"{_WORDY_ITEM}(?:\s?(?:[,，、;]|{LIST_WORD})\s?{_WORDY_ITEM})*"
_WORDY = rf"(?:{LINE_WORD}\s?{_WORDY_LIST}|第?\s?{_WORDY_ITEM}\s?{CJK_UNIT}|L{_ITEM})"
_PREPOSITION = r"(?:(?:at|on|in|around|near|from|see)\s)?"
_SPOKEN = (
    rf"\s{{0,2}}(?:{CJK_PARTICLE})?[,，:：、]?\s{{0,2}}"
    rf"(?:[(（\[]\s?{_PREPOSITION}{_WORDY}\s?(?:{CJK_UNIT})?[)）\]]"
    rf"|{_PREPOSITION}{_WORDY}(?:\s?{CJK_UNIT})?)"
)
# What follows may be the next word of an unspaced script, never more of a number or a name.
_END = r"(?!_*[A-Za-z0-9\u00aa-\u024f]|\d|[.:：]\d|://)"
_CLOSE = r"(?P<close>[`*_\"'”’»」』】》\]]{0,4})"
_SPEC = rf"{_CLOSE}(?P<spec>{_COLON}|{_HASH}|{_SPOKEN}){_END}"

# Letters of several scripts carry marks that are characters of their own, yet no `\w`.
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u0655\u0900-\u0dff\u0e31-\u0e4e"
_SEGMENT = rf"(?:[\w{_MARKS}.@~+$%-]|\[[\w.]{{1,40}}\]|\([\w.]{{1,40}}\))"
_GENERIC = (
    rf"(?<![\w{_MARKS}./\\~@+$%)\]-])"
    rf"(?P<path>(?:[A-Za-z]:[/\\])?(?:{_SEGMENT}*+[/\\]{{1,2}})*+{_SEGMENT}++)"
)
_NAMED = (
    rf"(?<![\w{_MARKS}./\\~@+$%:)\]-])(?P<path>[\w.-]++:(?:{_SEGMENT}*+[/\\]{{1,2}})*+{_SEGMENT}++)"
)

_URL = re.compile(r"(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>\"'`)\]】）」]*+", re.IGNORECASE)
_LINK = re.compile(
    r"\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]{0,80}\]){1,300})\]"
    r"\(\s?(?P<target><[^<>\n]{1,400}>|(?:[^\s()\n]|\([^\s()\n]{0,80}\)){1,400})"
    r"(?:\s+[\"'][^\"'\n]{0,200}[\"'])?\s?\)"
)
_FENCE = re.compile(
    r"^[ \t>]{0,12}(?P<mark>`{3,}|~{3,})[^\n]*\n?(?:.*?^[ \t>]{0,12}(?P=mark)[`~]*[ \t]*$|.*)",
    re.MULTILINE | re.DOTALL,
)
_CODE_SPAN = re.compile(r"(?<!`)(?P<ticks>`{1,2})(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)")
_NUMBERS = rf"{_NUMBER}(?:\s?(?:[,，、]|{_DASH}|{LIST_WORD})\s?{_NUMBER})*"
_EXCERPT_LINES = rf"(?:\s?[,，:：]?\s?(?P<spec>{LINE_WORD}\s?{_WORDY_LIST}|L{_ITEM}))?"
_SPOKEN_NUMBER = re.compile(
    rf"(?<![^\W{_UNSPACED}]){EXCERPT_WORD}\s?[#№]?\s?(?P<numbers>{_NUMBERS}){_EXCERPT_LINES}{_END}",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"(?:[\[［【][^\[\]［］【】\n]{1,60}[\]］】])++")
_BRACKET = re.compile(r"[\[［【](?P<inside>[^\[\]［］【】]+)[\]］】]")
_IN_BRACKET = re.compile(
    rf"\s?(?:(?:{EXCERPT_WORD}|source|ref\.?)\s?)?[#№]?\s?(?P<numbers>{_NUMBERS})"
    rf"(?:†[^\n]*|:(?P<plain>{_ITEM})|{_EXCERPT_LINES})\s?",
    re.IGNORECASE,
)
# A larger number in brackets is a year, a size or an index rather than an excerpt.
_MAX_EXCERPT_NUMBER = 999

_RANGE = re.compile(
    rf"(?P<start>{_NUMBER})(?::\d+)?(?:C\d+)?"
    rf"(?:\s?(?:{_DASH}|{RANGE_WORD})\s?(?:{LINE_WORD}\s?)?L?(?P<end>{_NUMBER})(?::\d+)?)?",
    re.IGNORECASE,
)


def find_mentions(
    text: str, paths: Iterable[str], *, root: str = "", has_repositories: bool = False
) -> list[Mention]:
    """Return the places a text names, in order; paths are those that were shown.

    `root` is the absolute path of the code base, which models sometimes write in front. With
    repositories, paths are `name:path`, and the name of one that was not shown makes another
    path.
    """
    shown = tuple(paths)
    known = _known_pattern(shown, root)
    found: list[Mention] = []
    for fence in _FENCE.finditer(text):
        found += _in_fence(fence, known, shown)
    rest = _blanked(text, _FENCE.finditer(text))
    if has_repositories:
        rest, mentions = _named_places(rest, known)
        found += mentions
    for search in (_links, _spoken_first, _known_places, _other_places):
        rest, mentions = search(rest, known)
        found += mentions
    found += _numbers(_blanked(rest, _CODE_SPAN.finditer(rest)))
    return sorted(found, key=lambda mention: mention.start)


def parse_ranges(spec: str) -> tuple[LineRange, ...]:
    """Return the line ranges in a text such as `:1-5,9` or `lines 3 to 7`."""
    ranges = (
        LineRange(int(match["start"]), int(match["end"] or match["start"]))
        for match in _RANGE.finditer(spec)
    )
    return tuple(ranges)


def spellings(path: str) -> list[str]:
    """Return a path and all its ends: `a/b/c.py`, `b/c.py`, `c.py`."""
    parts = path.split("/")
    ends = ["/".join(parts[start:]) for start in range(len(parts))]
    # the part behind the name of a repository, or of a folder with a colon in its name
    return [ends[0], *([ends[0].partition(":")[2]] if ":" in parts[0] else []), *ends[1:]]


def _known_pattern(paths: tuple[str, ...], root: str) -> str:
    """Match a shown path or an end of it, with what is commonly written in front."""
    forms = {unicodedata.normalize(form, path) for path in paths for form in ("NFC", "NFD")}
    forms.update(paths)
    ends = sorted({end for path in forms for end in spellings(path)}, key=len, reverse=True)
    if not ends:
        return r"(?!)"
    roots = [re.escape(name) + r"[/\\]" for name in (root, root.rsplit("/", 1)[-1]) if name]
    lead = "|".join([r"\.?[/\\]", r"[ab]/", *roots])
    latin = "|".join(_loose(end) for end in ends if end[0].isascii())
    other = "|".join(_loose(end) for end in ends if not end[0].isascii())
    starts = [rf"{_LATIN_START}(?:{lead})?(?:{latin})"] if latin else []
    starts += [rf"{_LATIN_START}(?:{lead})(?:{other})", rf"{_OTHER_START}(?:{other})"] * bool(other)
    return rf"(?P<path>{'|'.join(starts)})"


def _loose(path: str) -> str:
    """Match a path however Markdown, Windows or a link target has it written."""
    written = {"/": r"(?:/|\\{1,2})", " ": r"(?:\\?\ |%20)", ":": r"[:/]"}
    return "".join(
        written.get(char) or (r"\\?" if char in "_*[]()" else "") + re.escape(char) for char in path
    )


def _blanked(text: str, matches: Iterable[re.Match[str]]) -> str:
    """Overwrite what was dealt with, so that later searches pass over it."""
    pieces, position = [], 0
    for match in matches:
        pieces += [text[position : match.start()], "\0" * (match.end() - match.start())]
        position = match.end()
    return "".join(pieces) + text[position:]


def _in_fence(fence: re.Match[str], known: str, shown: Sequence[str]) -> Iterator[Mention]:
    """Find whole shown paths in a code block: anything else there is code, logs or a trace."""
    lines_first = rf"(?P<spec>{_NUMBER}:{_NUMBER}):{known.replace(_LATIN_START, '')}"
    for form in (known + _SPEC, lines_first):
        for match in re.finditer(form, fence.group(), re.IGNORECASE):
            if match["path"].replace("\\", "/").removeprefix("./") in shown:
                yield Mention(
                    fence.start() + match.start(),
                    fence.start() + match.end(),
                    match["path"],
                    _fence_ranges(match["spec"]),
                    is_fenced=True,
                )


def _fence_ranges(spec: str) -> tuple[LineRange, ...]:
    """Read `12:15`, the lines that some models write before the path, as a range."""
    return parse_ranges(spec.replace(":", "-") if spec[0].isdecimal() else spec)


def _links(text: str, known: str) -> tuple[str, list[Mention]]:
    found, done = [], []
    for match in _LINK.finditer(text):
        target = match["target"].strip("<>")
        if _URL.match(target):
            continue
        place = _whole_place(target, known) or _whole_place(match["label"].strip("`*_ "), known)
        if place is not None:
            found.append(_link_mention(match, place, known))
            done.append(match)
    text = _blanked(text, done)
    return _blanked(text, _URL.finditer(text)), found


def _whole_place(text: str, known: str) -> re.Match[str] | None:
    return re.fullmatch(known + _SPEC, text, re.IGNORECASE) or _other_place(text)


def _other_place(text: str) -> re.Match[str] | None:
    match = re.fullmatch(_GENERIC + _SPEC, text, re.IGNORECASE)
    return match if match and looks_like_path(match["path"]) else None


def _link_mention(match: re.Match[str], place: re.Match[str], known: str) -> Mention:
    """Keep a label that says more than the place itself, with the place behind it."""
    bare = match["label"].strip("`*_ ")
    names_place = (
        _whole_place(bare, known)
        or re.fullmatch(known, bare, re.IGNORECASE)
        or bare == place["path"]
        or re.fullmatch(rf"{_NUMBERS}|{_WORDY}", bare, re.IGNORECASE)
    )
    before, after = ("", "") if names_place else (f"{match['label']} (", ")")
    return Mention(
        match.start(),
        match.end(),
        place["path"],
        parse_ranges(place["spec"]),
        before=before,
        after=after,
    )


def _spoken_first(text: str, known: str) -> tuple[str, list[Mention]]:
    """Find `lines 3-7 of path`."""
    found, done = [], []
    for path in (known, _GENERIC):
        pattern = (
            rf"(?<![^\W{_UNSPACED}])(?P<spec>{LINE_WORD}\s?{_WORDY_LIST})\s?{OF_WORD}\s?"
            rf"(?P<open>[`*_\"'“‘«「]{{0,4}}){path}(?P<close>[`*_\"'”’»」]{{0,4}})(?!{_COLON})"
        )
        for match in re.finditer(pattern, text, re.IGNORECASE):
            if path == known or looks_like_path(match["path"].rstrip(".")):
                found.append(_spoken_mention(match))
                done.append(match)
        text = _blanked(text, done)
    return text, found


def _spoken_mention(match: re.Match[str]) -> Mention:
    path = match["path"]
    trimmed = path.rstrip(".") if not match["close"] else path
    return Mention(
        match.start(),
        match.end() - (len(path) - len(trimmed)),
        trimmed,
        parse_ranges(match["spec"]),
        before=match["open"],
        after=match["close"],
    )


def _known_places(text: str, known: str) -> tuple[str, list[Mention]]:
    matches = list(re.finditer(known + _SPEC, text, re.IGNORECASE))
    return _blanked(text, matches), [_mention(match) for match in matches]


def _named_places(text: str, known: str) -> tuple[str, list[Mention]]:
    """Find `name:path:lines` of a repository that was not shown: its path may have been.

    A word before the colon of a known path would otherwise be passed over, and the place
    taken for the one in another repository.
    """
    whole = re.compile(known, re.IGNORECASE)
    matches = [
        match
        for match in re.finditer(_NAMED + _SPEC, text, re.IGNORECASE)
        if looks_like_path(match["path"].partition(":")[2]) and not whole.fullmatch(match["path"])
    ]
    return _blanked(text, matches), [_mention(match) for match in matches]


def _other_places(text: str, known: str) -> tuple[str, list[Mention]]:
    del known
    matches = [
        match
        for match in re.finditer(_GENERIC + _SPEC, text, re.IGNORECASE)
        if looks_like_path(match["path"])
    ]
    return _blanked(text, matches), [_mention(match) for match in matches]


def _mention(match: re.Match[str]) -> Mention:
    path = match["path"]
    # "在bad.py:3": the letters of an unspaced script before a Latin name are not part of it
    lead = re.match(rf"[{_UNSPACED}]+(?=[A-Za-z0-9_])", path)
    skipped = lead.end() if lead and match.re.pattern.startswith(_GENERIC) else 0
    return Mention(
        match.start() + skipped,
        match.end(),
        path[skipped:],
        parse_ranges(match["spec"]),
        after=match["close"],
        is_plain=re.fullmatch(_COLON, match["spec"], re.IGNORECASE) is not None,
    )


def _numbers(text: str) -> Iterator[Mention]:
    """Find `[3]`, `[1, 4]`, `[2][3]`, `excerpt 3`, `excerpt 3, lines 5-9`."""
    for match in _SPOKEN_NUMBER.finditer(text):
        if not _is_in_bracket(text, match):
            yield from _numbered(match, match.start(), match.end(), "", "")
    for group in _BRACKETS.finditer(text):
        parts = [
            (bracket, _IN_BRACKET.fullmatch(bracket["inside"]))
            for bracket in _BRACKET.finditer(group.group())
        ]
        if not _is_reference(text, group) or not all(inside for _, inside in parts):
            continue
        for bracket, inside in parts:
            if inside is not None:
                start, end = group.start() + bracket.start(), group.start() + bracket.end()
                yield from _numbered(inside, start, end, bracket.group()[0], bracket.group()[-1])


def _is_in_bracket(text: str, match: re.Match[str]) -> bool:
    return re.search(r"[\[［【]\s?\Z", text[max(0, match.start() - 2) : match.start()]) is not None


def _is_reference(text: str, group: re.Match[str]) -> bool:
    """Tell `closed [3]` and `closed[3].` from `items[3] = x`, a link and a link's definition."""
    before = text[max(0, group.start() - 4) : group.start()]
    after = text[group.end() : group.end() + 8]
    if after[:1] == "(" or (after[:1] == ":" and not before.rpartition("\n")[2].strip()):
        return False
    if re.search(r"[A-Za-z0-9_)\]`\0]\Z", before):
        ends_clause = re.match(r"[.,;:!?)]+(?:\s|\Z)|\n|\Z", after)
        return ends_clause is not None and before[-1] != "\0"
    return not re.match(r"[A-Za-z0-9_]", after)


def _numbered(
    match: re.Match[str], start: int, end: int, before: str, after: str
) -> Iterator[Mention]:
    """Make one mention of each number; all take the same place in the text."""
    spec = match.groupdict().get("spec") or match.groupdict().get("plain") or ""
    for ranged in parse_ranges(match["numbers"]):
        last = max(ranged.end, ranged.start)
        if ranged.start < 1 or last > _MAX_EXCERPT_NUMBER or last - ranged.start > 20:
            continue
        for number in range(ranged.start, last + 1):
            yield Mention(
                start, end, "", parse_ranges(spec), number=number, before=before, after=after
            )
