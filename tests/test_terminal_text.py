import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.terminal_text import ControlEscaper, escape_controls, escape_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07\x1b[2J", "\\x1b]0;owned\\x07\\x1b[2J"),
        ("a\tb\nc", "a\tb\nc"),
        ("one\r\ntwo", "one\ntwo"),
        ("progress\rforged", "progress\\x0dforged"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("admin\u202e\u2066// ok\u2069", "admin\\u202e\\u2066// ok\\u2069"),
        ("\u200e\u200f\u061c", "\\u200e\\u200f\\u061c"),
        ("a\u2028b", "a\\u2028b"),
        ("caf\udce9.py", "caf\\xe9.py"),
        ("\ud83d", "\\ud83d"),
        ("\ud83d\ude42", "🙂"),
        ("x\U000e0041", "x\\U000e0041"),
        ("naïve 日本 👩\u200d💻 مرحبا \u200c", "naïve 日本 👩\u200d💻 مرحبا \u200c"),
        ("[/bold] :smile: \\n", "[/bold] :smile: \\n"),
    ],
)
def test_controls_are_shown_as_escapes(text: str, shown: str) -> None:
    assert escape_controls(text) == shown


def test_a_line_escapes_line_ends_and_tabs_too() -> None:
    assert escape_line("a\nb\tc\r\n\x1b") == "a\\nb\\tc\\x0d\\n\\x1b"


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_that_moves_the_cursor_is_left(text: str) -> None:
    for escaped in (escape_controls(text), escape_line(text)):
        left = {c for c in escaped if unicodedata.category(c) in ("Cc", "Cs")}
        assert left <= {"\n", "\t"}
        escaped.encode()


@given(st.lists(st.text("ab\r\n\x1b\ud83d\ude42\udce9", max_size=4), max_size=6))
def test_pieces_are_escaped_as_the_whole(pieces: list[str]) -> None:
    escaper = ControlEscaper()

    shown = "".join(escaper.feed(piece) for piece in pieces) + escaper.finish()

    assert shown == escape_controls("".join(pieces))
