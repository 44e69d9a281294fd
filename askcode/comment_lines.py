"""Find the comment that stands directly above a line, by the text alone.

Grammars put comments at the start of a body now inside it, now before it, each version
another way; the text is the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence

from askcode.definition_nodes import BLOCK_COMMENTS, COMMENT_MARKS


def comments_above(lines: Sequence[str], line: int, *, floor: int, language: str) -> int:
    """Return the first line of the comments that end right above a line, or the line itself.

    Lines are 1-based; those up to floor belong to something else, comments as far to the right
    as the line itself aside: grammars differ in what they end with a comment.
    """
    indent = _indent(lines[line - 1])
    marks = COMMENT_MARKS.get(language, ())
    opening, closing = BLOCK_COMMENTS.get(language, ("", ""))
    while line > 1 and (line - 1 > floor or _indent(lines[line - 2]) == indent):
        above = lines[line - 2].strip()
        if closing and above.endswith(closing) and not above.startswith(opening):
            begin = _opening_line(lines, line - 1, floor=floor, opening=opening)
            if begin is None:
                break
            line = begin
        elif above.startswith(marks) or (opening and above.startswith(opening)):
            line -= 1
        else:
            break
    return line


def without_trailing_comments(lines: Sequence[str], head: int, end: int, *, language: str) -> int:
    """Return the last line of a definition, less the comments after it that grammars give to it.

    Comments in its last block stay: they stand further to the right than its head.
    """
    marks = COMMENT_MARKS.get(language, ())
    while end > head:
        line = lines[end - 1]
        is_outside = line.strip().startswith(marks) and _indent(line) <= _indent(lines[head - 1])
        if line.strip() and not is_outside:
            break
        end -= 1
    return end


def _opening_line(lines: Sequence[str], line: int, *, floor: int, opening: str) -> int | None:
    """Return the line at or above a line where the comment begins, if nothing stands before it."""
    while line > floor:
        text = lines[line - 1].strip()
        if text.startswith(opening):
            return line
        if opening in text:
            return None  # a comment at the end of a line of code
        line -= 1
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
