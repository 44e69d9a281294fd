"""Find definitions by the look of their first line.

For languages whose grammar is in one bundle only, or in none, or does not fit: that of Lua does
not end on some inputs, those of SQL know one dialect each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from askcode.comment_lines import comments_above
from askcode.parts import Part

_MODIFIERS = r"(?:@?[\w()]+\s+)*?"
_SQL_MODIFIERS = (
    r"(?:create|alter)\s+(?:or\s+replace\s+|temp(?:orary)?\s+|unique\s+|materialized\s+|global\s+|"
    r"external\s+|definer\s*=\s*\S+\s+)*"
)
_SQL_CONDITION = r"(?:concurrently\s+)?(?:if\s+(?:not\s+)?exists\s+)?"


def _keyword(words: str, *, before: str = "", name: str = r"\w+") -> re.Pattern[str]:
    """Return the pattern of lines like `before keyword name`, letter case left aside."""
    keywords = "|".join(words.split())
    return re.compile(rf"\s*{before}(?:{keywords})\s+(?P<name>{name})", re.IGNORECASE)


_LUA = (
    _keyword("function", before=r"(?:local\s+)?", name=r"[\w.:]+"),
    re.compile(r"\s*(?:local\s+)?(?P<name>[\w.]+)\s*=\s*function\b"),
)
_SQL = (
    _keyword(
        "table view index function procedure trigger type schema sequence database role policy "
        "extension event",
        before=_SQL_MODIFIERS,
        name=rf"{_SQL_CONDITION}[^\s(;]+",
    ),
)
PATTERNS = {
    "lua": _LUA,
    "luau": _LUA,
    "sql": _SQL,
    "sqlite": _SQL,
    "swift": (
        _keyword(
            "class struct enum protocol extension actor func typealias",
            before=_MODIFIERS,
            name=r"[\w.]+",
        ),
        re.compile(rf"\s*{_MODIFIERS}(?P<name>init)\b\??\("),
    ),
    "dart": (_keyword("class mixin enum extension typedef", before=_MODIFIERS),),
    "proto": (_keyword("message service enum rpc oneof"),),
    "graphql": (
        _keyword(
            "type input enum interface union scalar query mutation fragment subscription directive",
            before=r"(?:extend\s+)?",
            name=r"@?\w+",
        ),
    ),
    "powershell": (_keyword("function filter class enum workflow", name=r"[\w:-]+"),),
    "groovy": (
        _keyword("class interface trait enum", before=_MODIFIERS),
        re.compile(rf"\s*{_MODIFIERS}def\s+(?P<name>\w+)\s*\("),
    ),
    "cmake": (re.compile(r"\s*(?i:function|macro)\s*\(\s*(?P<name>\w+)"),),
    "clojure": (re.compile(r"\((?:def[\w-]*|ns)\s+(?:\^\S+\s+)*(?P<name>[^\s()]+)"),),
    "scheme": (re.compile(r"\(define[\w-]*\s+\(?(?P<name>[^\s()]+)"),),
    "racket": (re.compile(r"\((?:define[\w-]*|struct)\s+\(?(?P<name>[^\s()]+)"),),
    "nim": (_keyword("proc func method template macro iterator converter"),),
    "zig": (
        _keyword("fn", before=r"(?:pub\s+|export\s+|inline\s+)*"),
        re.compile(
            r"\s*(?:pub\s+)?const\s+(?P<name>\w+)\s*=\s*(?:extern\s+|packed\s+)?(?:struct|enum|union)"
        ),
    ),
    "solidity": (
        _keyword(
            "contract interface library function modifier event struct enum",
            before=r"(?:abstract\s+)?",
        ),
    ),
    "gdscript": (_keyword("func class", before=r"(?:static\s+)?"),),
    "fsharp": (
        _keyword("let type module", name=r"(?:rec\s+|inline\s+|private\s+)*\w+"),
        re.compile(r"\s*member\s+(?:\w+\.)?(?P<name>\w+)"),
    ),
}
"""For each language the patterns of lines that begin a definition, its name as a group."""

_STATEMENTS = frozenset({"sql", "sqlite"})
_CLOSER = re.compile(r"\s*(?:end\b|[})\]]|fi\b|done\b)")
_MAX_SIGNATURE_CHARS = 200
_MAX_LINE_CHARS = 1000
_TAB_COLUMNS = 4


def parts_by_pattern(language: str, lines: Sequence[str]) -> list[Part]:
    """Return the definitions that the language's pattern finds, nested by indentation."""
    top = Part("", 1, len(lines), 1)
    open_parts: list[tuple[int, Part]] = [(-1, top)]
    floor = 0
    for number, line in enumerate(lines, 1):
        found = _match(language, line)
        if found is None:
            continue
        indent = _indent(line)
        while open_parts[-1][0] >= indent:
            open_parts.pop()
        owner = open_parts[-1][1]
        made = _part(owner, found, number)
        floor = owner.parts[-1].end_line if owner.parts else owner.head_line
        floor = 0 if owner is top and not owner.parts else floor
        made.end_line = min(_end(language, lines, number, indent), owner.end_line)
        made.start_line = comments_above(lines, number, floor=floor, language=language)
        owner.parts.append(made)
        open_parts.append((indent, made))
    return top.parts


def _match(language: str, line: str) -> re.Match[str] | None:
    matches = (pattern.match(line[:_MAX_LINE_CHARS]) for pattern in PATTERNS[language])
    return next((found for found in matches if found), None)


def _indent(line: str) -> int:
    wide = line.expandtabs(_TAB_COLUMNS)
    return len(wide) - len(wide.lstrip())


def _part(owner: Part, found: re.Match[str], number: int) -> Part:
    name = found["name"].split()[-1].replace(":", ".").strip('"`[]')
    head = " ".join(found.string.split()).rstrip("({; ")
    return Part(
        f"{owner.name}.{name}" if owner.name else name,
        number,
        number,
        number,
        owner.level + 1,
        head[:_MAX_SIGNATURE_CHARS],
    )


def _end(language: str, lines: Sequence[str], number: int, indent: int) -> int:
    """Return the last line of the definition that begins at a line."""
    if language in _STATEMENTS:
        return _statement_end(lines, number)
    end = number
    for following in range(number + 1, len(lines) + 1):
        line = lines[following - 1]
        if not line.strip():
            continue
        if _indent(line) > indent:
            end = following
        elif _CLOSER.match(line) or line.strip() in ("{", "("):
            end = following
            if line.strip() not in ("{", "("):
                break
        else:
            break
    return end


def _statement_end(lines: Sequence[str], number: int) -> int:
    """Return the line of the semicolon that ends a statement, a quoted body left whole."""
    quotes = 0
    for following in range(number, len(lines) + 1):
        line = lines[following - 1]
        quotes += line.count("$$")
        ends = line.split("--")[0].rstrip().endswith(";")
        if ends and quotes % 2 == 0 and not (following > number and line[:1].isspace()):
            return following
        if following > number and _match("sql", line) and quotes % 2 == 0:
            return following - 1
    return len(lines)
