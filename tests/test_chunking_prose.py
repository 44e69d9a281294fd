"""Sections of prose by their headings."""

import pytest

from askcode.chunking_prose import sections_of
from askcode.parts import walk


def sections(language, text):
    lines = text.split("\n")
    return [
        (part.start_line, part.end_line, part.name) for part in walk(sections_of(language, lines))
    ]


def test_markdown_headings_nest():
    text = "# A\n\n## B\n\ntext\n\n#### C\n\n## D\n\n# E"

    assert sections("markdown", text) == [
        (1, 10, "A"),
        (3, 8, "A > B"),
        (7, 8, "A > B > C"),
        (9, 10, "A > D"),
        (11, 11, "E"),
    ]


def test_underlined_headings_are_headings():
    assert sections("markdown", "A\n===\n\nB\n---\n\ntext") == [(1, 7, "A"), (4, 7, "A > B")]


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# no\n```",
        "~~~~\n# no\n~~~\n# no\n~~~~",
        "    # no",
        "---\ntitle: x\n# no\n---\n\ntext",
        "+++\n# no\n+++",
        "<!--\n# no\n-->",
        "#no",
        "text\n\n---\n\ntext",
        "> # quoted",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text):
    assert sections("markdown", text) == []


def test_titles_are_plain_text():
    text = "# **A** `b_c` [d](http://e) <a id='x'></a> {#id}\n# [f][g]"

    assert [name for _, _, name in sections("markdown", text)] == ["A b_c d", "[f][g]"]


def test_lines_are_counted_by_line_feeds_alone():
    text = "a\x0cb\u2028c\x85d\n\n# A\n"

    assert sections("markdown", text) == [(3, 4, "A")]


def test_rst_levels_come_in_the_order_of_their_styles():
    text = "===\nTop\n===\n\nAA\n==\n\naaa\n---\n\ntext\n\nBB\n=="

    assert sections("rst", text) == [
        (1, 14, "Top"),
        (5, 12, "Top > AA"),
        (8, 12, "Top > AA > aaa"),
        (13, 14, "Top > BB"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "=== ===\na   b\n=== ===\n1   2\n=== ===",
        "text\n\n----\n\ntext",
        ".. code::\n\n   a\n   ---",
        "one\ntwo\n===",
        "+---+\n| a |\n+---+",
    ],
)
def test_tables_and_lines_are_no_titles(text):
    assert sections("rst", text) == []


def test_asciidoc_and_org_have_marks():
    assert sections("asciidoc", "= A\n\n== B\n") == [(1, 4, "A"), (3, 4, "A > B")]
    assert sections("org", "* A\n** B\n* C") == [(1, 2, "A"), (2, 2, "A > B"), (3, 3, "C")]


def test_other_text_has_no_sections():
    assert sections("text", "# A\n") == []
