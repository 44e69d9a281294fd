import io
from pathlib import Path

import pytest
from rich.console import Console

from askcode.cli.linking import file_url, linked, print_linked
from askcode.repositories import Roots

ROOTS = Roots(Path("/r"))


@pytest.mark.parametrize(
    ("line", "linked_text", "url"),
    [
        ("a b/[id].py:3-9  0.5  f", "a b/[id].py:3-9", "file:///r/a%20b/%5Bid%5D.py#3"),
        ("  - x.py", "x.py", "file:///r/x.py"),
        ("  - x.py  (4-9, 12-13)", "x.py", "file:///r/x.py#4"),
        ("   2. x.py:1-2  0.25", "x.py:1-2", "file:///r/x.py#1"),
        ("  [1] x.py:1-2", "x.py:1-2", "file:///r/x.py#1"),
        ("  - caf\\xe9:1-2", "caf\\xe9:1-2", "file:///r/caf%E9#1"),
    ],
)
def test_a_place_is_linked_to_its_line(line, linked_text, url):
    text = linked(line, roots=ROOTS, paths=["a b/[id].py", "caf\udce9", "x.py"])

    (span,) = text.spans
    assert text.plain == line
    assert line[span.start : span.end] == linked_text
    assert span.style == f"link {url}"


def test_other_lines_are_left_alone():
    assert linked("    12  x.py:1-2 in code", roots=ROOTS, paths=["x.py"]).spans == []


def test_a_pipe_gets_no_escape_and_no_wrapping():
    file = io.StringIO()
    path = "d" * 100 + "/[x]:smile:.py"

    print_linked(Console(file=file, width=20), [f"  - {path}"], roots=ROOTS, paths=[path])

    assert file.getvalue() == f"  - {path}\n"


def test_a_terminal_gets_a_link():
    file = io.StringIO()

    console = Console(file=file, width=80, force_terminal=True, color_system="standard")
    print_linked(console, ["  - x.py"], roots=ROOTS, paths=["x.py"])

    assert ";file:///r/x.py\x1b\\x.py" in file.getvalue()


def test_a_url_names_root_path_and_line():
    assert file_url(ROOTS, "x.py", "7") == "file:///r/x.py#7"
