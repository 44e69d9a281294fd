"""Take the doc comment off a definition: what it says in words, and the code without it."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from askcode.comment_lines import comments_above
from askcode.definition_nodes import BLOCK_COMMENTS, COMMENT_MARKS
from askcode.parts import Part

# The lines of a definition that go to the model; what a longer one does shows in its first ones.
MAX_CODE_LINES = 60
MIN_WORDS = 3
MAX_WORDS = 80
# A signature of more lines than this is not looked behind for a docstring.
_MAX_HEAD_LINES = 30

_MARKS = re.compile(r"^\s*(?:///?!?|/\*+!?|\*+/|\*(?!\*)|#+|--+|;+)<?\s?|\s*\*+/\s*$")
_DOCSTRING = re.compile(r"^\s*[rRuUbB]{0,2}(\"\"\"|''')")
_TAG_LINE = re.compile(
    r"^\s*(?:[@\\](?:param|returns?|throws?|exception|see|since|author|version|deprecated|type|"
    r"example|private|public|internal|template|tparam|pre|post|sa|ingroup|file|memberof|class|"
    r"function|name|inheritdoc|var|link|property|yields?|yieldparam|option|overload|api|access)\b"
    r"|:(?:param|returns?|rtype|type|raises|arg|keyword)\b"
    r"|(?:Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?|See Also|References"
    r"|Throws|Panics|Errors|Safety|Usage|Attributes|Inputs?|Outputs?)\s*:?\s*$"
    r"|#+\s+(?:Examples?|Panics|Errors|Safety|Arguments)|[=\-~^]{3,}\s*$|```|\.\. |>>> )",
    re.IGNORECASE,
)
_BRIEF = re.compile(r"[\\@](?:brief|short|summary|desc(?:ription)?|details?|remarks?|note)\b:?\s*")
_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}|[\\@](?:c|p|a|e|ref|b|em)\s+(?=\w)")
_ROLE = re.compile(r":[a-z:]+:`~?([^`<]+?)(?:\s*<[^`>]*>)?`")
_CREF = re.compile(r"<(?:see|paramref|seealso|typeparamref)\b[^>]*?\"(?:\w:)?([^\"]*)\"\s*/?>")
_HTML = re.compile(r"</?[a-zA-Z][^<>]{0,100}>")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_URL = re.compile(r"https?://\S+")
_WORD = re.compile(r"[A-Za-z][A-Za-z']*")
# Words of licences, of tools' marks and of placeholders, which say nothing about the code.
_NOT_ABOUT_CODE = re.compile(
    r"copyright|licen[sc]e[ds]?\b|all rights reserved|spdx|warrant(?:y|ies)|redistribut"
    r"|\b(?:todo|fixme|xxx|eslint|tslint|pylint|noqa|nolint|istanbul|prettier|rubocop|pragma)\b"
    r"|generated (?:by|from)|do not edit|auto-?generated|inheritdoc|^non-?javadoc|^\(non"
    r"|^see\s+\S+$|^@|^-\*-|^vim:|^\W*$|=====|-----",
    re.IGNORECASE,
)


def split_doc(language: str, lines: Sequence[str], part: Part) -> tuple[str, str]:
    """Return the first paragraph of a definition's doc comment and the code without it.

    The text is "" when there is none that says something in words.
    """
    start, end = part.head_line, part.end_line
    if language == "python":
        comment = _docstring_lines(lines, part)
        kept = [
            line
            for number, line in enumerate(lines[part.start_line - 1 : end], part.start_line)
            if number not in comment
        ]
        said = [lines[number - 1] for number in comment]
        return read_words(_without_quotes(said)), code_of(kept)
    above = list(range(part.start_line, start))
    is_comment = _comment_lines(language, lines, above)
    if not is_comment:
        first = comments_above(lines, part.start_line, floor=0, language=language)
        is_comment = set(range(first, part.start_line))
    kept = [lines[number - 1] for number in above if number not in is_comment]
    kept += lines[start - 1 : end]
    said = [_MARKS.sub("", lines[number - 1]) for number in sorted(is_comment)]
    return read_words(said), code_of(kept)


def read_words(said: Sequence[str]) -> str:
    """Return the first paragraph of a comment as plain words; "" when it says nothing of code."""
    lines: list[str] = []
    for line in said:
        if _BRIEF.search(line):
            line = _BRIEF.sub("", line)
        elif _TAG_LINE.match(line):
            break
        plain = line.strip()
        if not plain or re.fullmatch(r"</?(?:p|summary|remarks|para)>", plain):
            if lines:
                break
            continue
        lines.append(plain)
    text = plain_words(" ".join(lines))
    words = _WORD.findall(text)
    if len(words) < MIN_WORDS or _NOT_ABOUT_CODE.search(text) or not _is_english(text):
        return ""
    return " ".join(text.split(" ")[:MAX_WORDS])


def plain_words(text: str) -> str:
    """Return a text without the marks of doc tools: tags, roles, links, entities."""
    text = _CREF.sub(r"\1", text)
    text = _INLINE_TAG.sub(lambda found: found[1] or "", text)
    text = _ROLE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _URL.sub("", text)
    text = _HTML.sub("", text)
    text = html.unescape(text).replace("`", "").replace("**", "")
    return " ".join(text.split())


def code_of(lines: Sequence[str]) -> str:
    """Return lines as code for the model: without the common indent, cut when they are many."""
    filled = [line for line in lines if line.strip()][:MAX_CODE_LINES]
    margin = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    return "\n".join(line[margin:].rstrip() for line in filled)


def _is_english(text: str) -> bool:
    """Return whether most characters are ASCII letters and blanks, as those of prose are."""
    plain = sum(char.isascii() and (char.isalpha() or char == " ") for char in text)
    return plain >= 0.75 * len(text)


def _docstring_lines(lines: Sequence[str], part: Part) -> range:
    last = min(part.head_line + _MAX_HEAD_LINES, part.end_line)
    for number in range(part.head_line + 1, last + 1):
        line = lines[number - 1]
        if not line.strip() or lines[number - 2].rstrip()[-1:] not in (":", ""):
            continue
        found = _DOCSTRING.match(line)
        return _quoted(lines, number, found[1], part.end_line) if found else range(0)
    return range(0)


def _quoted(lines: Sequence[str], first: int, quote: str, end: int) -> range:
    if lines[first - 1].count(quote) >= 2:
        return range(first, first + 1)
    for number in range(first + 1, end + 1):
        if quote in lines[number - 1]:
            return range(first, number + 1)
    return range(0)


def _without_quotes(said: Sequence[str]) -> list[str]:
    return [re.sub(r"^\s*[rRuUbB]{0,2}(?:\"\"\"|''')|(?:\"\"\"|''')", "", line) for line in said]


def _comment_lines(language: str, lines: Sequence[str], numbers: Sequence[int]) -> set[int]:
    """Return which lines are comments: line marks, and everything from block begin to end."""
    marks = COMMENT_MARKS.get(language, ())
    opening, closing = BLOCK_COMMENTS.get(language, ("", ""))
    found: set[int] = set()
    is_open = False
    for number in numbers:
        stripped = lines[number - 1].strip()
        if is_open:
            found.add(number)
            is_open = closing not in stripped
        elif opening and stripped.startswith(opening):
            found.add(number)
            is_open = closing not in stripped[len(opening) :]
        elif stripped.startswith(marks) and not stripped.startswith("#["):
            found.add(number)
    return found
