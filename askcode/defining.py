"""Find the definitions of a source file, nested, with the lines that belong to each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from askcode.comment_lines import comments_above, without_trailing_comments
from askcode.definition_nodes import (
    ATTRIBUTES,
    CLAUSES,
    DATA_DEPTH,
    DEFINITIONS,
    DETACHED,
    LEAVES,
    REACHING,
    SEPARATORS,
    WRAPPERS,
    transparent,
)
from askcode.grammars import parse
from askcode.line_patterns import PATTERNS, parts_by_pattern
from askcode.naming import name_of
from askcode.parts import Part, cut_before, join_clauses, reach, settle
from askcode.signatures import head_row, signature_of

# Deeper nodes are left to their lines: nothing that a reader calls a definition is there.
MAX_DEPTH = 64
# After an error a file is parsed again from later lines, of which so many at a time are tried:
# in all so many lines, and so many times the file's own.
_TRIED_LINES = 200
_MAX_REPARSED_LINES = 2000
_MAX_REPARSED_SHARE = 2
# A line that may begin a definition at the left margin.
_FRESH_START = re.compile(r"[A-Za-z_@#\[$]")
_DEFINER = re.compile(
    r"(?:export|public|private|protected|internal|static|async|pub|abstract|final|def|class|func|"
    r"fn|fun|function|interface|struct|enum|trait|impl|type|module|namespace|template|defmodule|"
    r"package|void|@\w)\b"
)

_CPLUSPLUS = re.compile(
    r"\s*(?:class\s+[\w:]+\s*[:{\w]|class\s+\w+;|namespace\b|template\s*<|(?:public|private|protected)\s*:|"
    r"using\s+\w|virtual\s|#\s*include\s*<(?:c?[a-z_]+|Q\w+)>\s*$)"
)
_OBJECTIVE = re.compile(r"@(?:interface|protocol|implementation|class)\b|#import\b")


@dataclass(frozen=True, slots=True)
class _Place:
    """A node to look into."""

    node: Node
    owner: Part
    floor: int
    """The last line that belongs to what comes before."""
    lead: int | None
    """Where the first definition inside begins, when the node only wraps it."""
    tail: int
    """Where the last definition inside ends, when the node only wraps it."""
    depth: int


def definitions_of(language: str | None, lines: Sequence[str]) -> list[Part]:
    """Return a file's top-level definitions with their parts; none without a grammar."""
    if language in PATTERNS:
        return parts_by_pattern(language, lines)
    if language is None or language not in DEFINITIONS:
        return []
    grammar = _grammar(language, lines)
    parser = _Parser(grammar, lines)
    found: list[Part] = []
    start = 1
    while (root := parser.parse(start, len(lines))) is not None:
        parts = _Walk(grammar, lines, start - 1).run(root)
        restart = _restart(parser, root, start - 1)
        if restart is None:
            return found + parts
        found += cut_before(parts, restart)
        start = restart
    return found


def _grammar(language: str, lines: Sequence[str]) -> str:
    """Return the grammar to read a file with: C's headers may be of three languages."""
    if language == "c":
        for line in lines:
            if _OBJECTIVE.match(line):
                return "objc"
            if _CPLUSPLUS.match(line):
                return "cpp"
    return language


class _Parser:
    """Parse a file from any of its lines, so often that it stays in proportion to its size."""

    def __init__(self, language: str, lines: Sequence[str]) -> None:
        self.language = language
        self.lines = lines
        self.budget = _MAX_REPARSED_LINES + _MAX_REPARSED_SHARE * len(lines)

    def parse(self, start: int, end: int) -> Node | None:
        """Return the root of lines start to end; None when there is no grammar."""
        text = "\n".join(self.lines[start - 1 : end])
        tree = parse(self.language, text.encode("utf-8", "replace"))
        return tree.root_node if tree is not None else None

    def may_begin(self, line: int) -> bool | None:
        """Return whether a whole definition begins at a line; None when too much was tried."""
        end = min(line + _TRIED_LINES, len(self.lines))
        self.budget -= end - line + 1
        if self.budget < 0:
            return None
        root = self.parse(line, end)
        for node in root.named_children if root is not None and root.type != "ERROR" else ():
            if node.type in ATTRIBUTES and node.type not in DEFINITIONS[self.language]:
                continue
            known = node.type in DEFINITIONS[self.language] or node.type in WRAPPERS
            return known and not node.has_error
        return False


def _restart(parser: _Parser, root: Node, offset: int) -> int | None:
    """Return a line inside a broken stretch from where the file parses again, if there is one."""
    if not root.has_error:
        return None
    for node in [root] if root.type == "ERROR" else root.named_children:
        if not node.has_error:
            continue
        for line in range(node.start_point[0] + offset + 2, _last_line(node) + offset + 1):
            if _may_begin(parser.lines, line):
                begins = parser.may_begin(line)
                if begins is None:
                    return None
                if begins:
                    parser.budget -= len(parser.lines) - line
                    return line
    return None


def _may_begin(lines: Sequence[str], line: int) -> bool:
    text = lines[line - 1]
    is_fresh = _FRESH_START.match(text) is not None and not lines[line - 2].strip()
    return is_fresh or _DEFINER.match(text) is not None


def _last_line(node: Node) -> int:
    """Return the 1-based line of a node's last character, its own line end left out."""
    row, column = node.end_point
    return max(row if column == 0 else row + 1, node.start_point[0] + 1)


class _Walk:
    """Collect definitions level by level, with a stack of our own against deep nesting."""

    def __init__(self, language: str, lines: Sequence[str], offset: int) -> None:
        self.language = language
        self.lines = lines
        self.offset = offset
        self.types = DEFINITIONS[language]
        self.transparent = transparent(language)
        self.separator = SEPARATORS.get(language, ".")
        self.order: dict[int, int] = {}
        self.max_level = DATA_DEPTH.get(language, MAX_DEPTH)

    def run(self, root: Node) -> list[Part]:
        """Return the definitions under a root."""
        top = Part("", self.offset + 1, len(self.lines), self.offset + 1)
        stack = [_Place(root, top, self.offset, None, 0, 0)]
        while stack:
            stack += reversed(self._look_into(stack.pop()))
        settle(top, self.order)
        if self.language in REACHING:
            reach(top.parts, top.end_line)
        if self.language in CLAUSES:
            join_clauses(top.parts)
        return top.parts

    def _look_into(self, place: _Place) -> list[_Place]:
        inner: list[_Place] = []
        lead, floor = place.lead, place.floor
        children = place.node.named_children
        for child in children:
            start, end = child.start_point[0] + 1 + self.offset, _last_line(child) + self.offset
            tail = max(place.tail, end) if child is children[-1] else end
            name = name_of(self.language, child) if child.type in self.types else ""
            if name:
                span = (start if lead is None else lead, tail)
                made = self._define(place.owner, child, name, span=span, floor=floor)
                if self._may_hold_more(child, made, place.depth):
                    inner.append(_Place(child, made, made.head_line, None, 0, place.depth + 1))
                lead, floor = None, end
            elif child.type in ATTRIBUTES and child.type not in self.types:
                lead = self._lead(child, start, lead=lead, floor=floor)
            elif child.type in self.transparent and place.depth < MAX_DEPTH:
                inner.append(self._through(place, child, lead=lead, floor=floor, tail=tail))
                lead, floor = None, end
            elif place.lead is None:
                lead, floor = None, end
        return inner

    def _may_hold_more(self, node: Node, made: Part, depth: int) -> bool:
        return depth < MAX_DEPTH and made.level < self.max_level and node.type not in LEAVES

    def _through(
        self, place: _Place, child: Node, *, lead: int | None, floor: int, tail: int
    ) -> _Place:
        """Return the place inside a node that has no name of its own."""
        if child.type not in WRAPPERS:
            return _Place(child, place.owner, floor, None, 0, place.depth + 1)
        start = child.start_point[0] + 1 + self.offset if lead is None else lead
        return _Place(child, place.owner, floor, start, tail, place.depth + 1)

    def _lead(self, child: Node, start: int, *, lead: int | None, floor: int) -> int | None:
        """Return where the definition after a comment or attribute begins."""
        if start <= floor:
            return lead  # it stands at the end of a line of code
        following = child.next_named_sibling
        is_near = following is not None and following.start_point[0] <= _last_line(child)
        if child.type not in DETACHED and not is_near:
            return None
        return start if lead is None else lead

    def _define(
        self, owner: Part, node: Node, name: str, *, span: tuple[int, int], floor: int
    ) -> Part:
        begin = comments_above(self.lines, span[0], floor=floor, language=self.language)
        head = head_row(node) + 1 + self.offset
        made = Part(
            f"{owner.name}{self.separator}{name}" if owner.name else name,
            begin,
            without_trailing_comments(self.lines, head, span[1], language=self.language),
            head,
            owner.level + 1,
            signature_of(node),
        )
        owner.parts.append(made)
        self.order[id(made)] = node.start_byte
        return made
