"""Render Markdown for a terminal without losing a character of the code in it.

CommonMark makes "init" of `__init__`, drops `<div>`, hides what a link points to and takes
`[1]: text` for a definition. Here underscores are letters, asterisks inside words and globs
stay, HTML is text, and a link shows its target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, TableElement
from rich.syntax import Syntax
from rich.table import Table

LinkFor = Callable[[str], "str | None"]
"""The URL of a place written in backticks, None for what is no place."""

# Colours of the terminal's own palette, readable on light and on dark ground.
_CODE_THEME = "ansi_dark"


def no_link(text: str) -> None:
    """Link nothing."""
    del text


def parse(text: str) -> list[Token]:
    """Return the tokens of a text, by rules that keep code readable."""
    return _PARSER.parse(text)


class CodeMarkdown(Markdown):
    """Markdown as a renderable of rich."""

    def __init__(self, text: str, *, link_for: LinkFor = no_link) -> None:
        super().__init__("", hyperlinks=True)
        self.markup = text
        self.parsed = parse(text)
        for token in self.parsed:
            if token.children:
                token.children = list(_readable(token.children, link_for))


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Take asterisks for emphasis unless they stand in a word, a glob or a comment."""
    marker = state.src[state.pos]
    if silent or marker != "*":
        return False
    scanned = state.scanDelims(state.pos, True)
    end = state.pos + scanned.length
    around = (state.src[state.pos - 1 : state.pos] or " ") + (state.src[end : end + 1] or " ")
    is_code = "/" in around or all(_is_ascii_word(character) for character in around)
    for _ in range(scanned.length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(
            Delimiter(
                marker=ord(marker),
                length=scanned.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=scanned.can_open and not is_code,
                close=scanned.can_close and not is_code,
            )
        )
    state.pos = end
    return True


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["reference", "image", "html_block", "html_inline"])
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser


_PARSER = _make_parser()


def _readable(tokens: Iterable[Token], link_for: LinkFor) -> Iterable[Token]:
    """Keep line ends, show what links point to, and link places in backticks."""
    target, label = "", ""
    for token in tokens:
        if token.type == "softbreak":
            yield Token("hardbreak", "br", 0)
            continue
        label += token.content
        if token.type == "link_open":
            target, label = str(token.attrs.get("href", "")), ""
        url = link_for(token.content) if token.type == "code_inline" and not target else None
        if url:
            yield Token("link_open", "a", 1, attrs={"href": url})
        yield token
        if url:
            yield Token("link_close", "a", -1)
        if token.type == "link_close":
            if target not in (label, f"mailto:{label}"):
                yield Token("text", "", 0, content=f" ({target})")
            target = ""


class _PlainHeading(Heading):
    """A heading that starts at the left, at every level."""

    LEVEL_ALIGN: ClassVar[dict[str, Any]] = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class _PlainCode(CodeBlock):
    """Highlighted code without a box or a ground, so that it copies clean."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Syntax(
            str(self.text).rstrip("\n"),
            self.lexer_name,
            theme=_CODE_THEME,
            word_wrap=True,
            background_color="default",
        )


class _FoldedTable(TableElement):
    """A table whose cells go on in the next line instead of being cut off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table(box=box.SIMPLE, pad_edge=False, style="markdown.table.border")
        if self.header is not None and self.header.row is not None:
            for column in self.header.row.cells:
                heading = column.content.copy()
                heading.stylize("markdown.table.header")
                heading.overflow = "fold"
                table.add_column(heading, overflow="fold")
        for row in self.body.rows if self.body is not None else ():
            table.add_row(*(cell.content for cell in row.cells))
        yield table


CodeMarkdown.elements = {
    **Markdown.elements,
    "heading_open": _PlainHeading,
    "fence": _PlainCode,
    "code_block": _PlainCode,
    "table_open": _FoldedTable,
}
