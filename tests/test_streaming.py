import contextlib
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from askcode.cli.markdown import CodeMarkdown
from askcode.cli.streaming import MarkdownStream, RawStream, open_stream, print_markdown

REPOSITORY = Path(__file__).parent.parent

CHILD = """
import sys
from rich.console import Console
from askcode.cli.streaming import open_stream
text = open(sys.argv[1], encoding="utf-8").read()
step = int(sys.argv[2])
with open_stream(Console()) as stream:
    for start in range(0, len(text), step):
        stream.feed(text[start:start + step])
print("END")
"""

ANSWER = """# The answer

The loop calls __init__ and List<int> in <div> for a*b*c, see `src/agent.py:12-40`.
It goes on at w01 w02 w03 w04 w05 w06 w07 w08 w09 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 w20 w21.

- item one with **bold** text
- item two
  - nested item

1. first

2. second

[1]: src/kept.py:3

```python
def run(self, items: list[int]) -> None:
    for item in items:  # comment number one
        self.take(item)
```

| file | what it does |
|---|---|
| src/very/long/path/to/some/module_name.py | it keeps every_single_word of it |

> quoted 日本語のテキスト

""" + "\n".join(
    f"- entry number {number:03} of a list higher than the screen" for number in range(60)
)


def on_terminal(text, *, columns, rows=24, step=3, tmp_path):
    """Run a stream on a real pseudo-terminal and return what an emulator shows of it."""
    source = tmp_path / "answer.md"
    source.write_text(text, encoding="utf-8")
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(REPOSITORY)}
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(source), str(step)],
        stdin=child,
        stdout=child,
        stderr=child,
        env=environment,
    )
    os.close(child)
    data = b""
    try:
        while piece := os.read(parent, 65536):
            data += piece
    except OSError:  # the other side is closed
        pass
    os.close(parent)
    assert process.wait() == 0
    return data, screen_lines(data, columns, rows)


def screen_lines(data, columns, rows):
    """Return scrollback and screen after the data, trailing blanks cut."""
    screen = pyte.HistoryScreen(columns, rows, history=10_000)
    pyte.ByteStream(screen).feed(data)
    past = ["".join(row[x].data for x in range(columns)) for row in screen.history.top]
    return [line.rstrip() for line in [*past, *screen.display]]


@pytest.mark.parametrize("columns", [80, 40])
@pytest.mark.parametrize("step", [1, 50])
def test_every_line_is_on_the_terminal_exactly_once(columns, step, tmp_path):
    _, lines = on_terminal(ANSWER, columns=columns, step=step, tmp_path=tmp_path)

    whole = io.StringIO()
    print_markdown(Console(file=whole, width=columns, height=500, force_terminal=True), ANSWER)
    expected = [
        line for line in screen_lines(whole.getvalue().encode(), columns, 500) if line.strip()
    ]
    assert [line for line in lines if line.strip()] == [*expected, "END"]
    for number in range(60):
        assert sum(f"entry number {number:03}" in line for line in lines) == 1


def test_code_in_prose_keeps_every_character(tmp_path):
    _, lines = on_terminal(ANSWER, columns=120, tmp_path=tmp_path)

    shown = "\n".join(lines)
    assert "__init__ and List<int> in <div> for a*b*c, see src/agent.py:12-40." in shown
    assert "[1]: src/kept.py:3" in shown
    assert "def run(self, items: list[int]) -> None:" in shown


def test_code_is_highlighted_on_a_terminal(tmp_path):
    data, _ = on_terminal("```python\ndef f(): return 1\n```\n", columns=80, tmp_path=tmp_path)

    assert b"\x1b[" in data
    assert b"def f(): return 1" not in data


def rendered(text, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=True)
    console.print(CodeMarkdown(text))
    return "\n".join(line.rstrip() for line in console.file.getvalue().strip("\n").split("\n"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("call __init__ now", "call __init__ now"),
        ("_private and snake_case_name", "_private and snake_case_name"),
        ("List<int>, <div>, Map<K, V>", "List<int>, <div>, Map<K, V>"),
        ("<div>\nblock\n</div>", "<div>\nblock\n</div>"),
        ("a*b*c and 2**3**4", "a*b*c and 2**3**4"),
        ("src/**/*.py and *.js and */", "src/**/*.py and *.js and */"),
        ("f(*args, **kwargs)", "f(*args, **kwargs)"),
        ("/* comment */ and /*x*/", "/* comment */ and /*x*/"),
        ("app/[id]/page.tsx and x[0]", "app/[id]/page.tsx and x[0]"),
        ("[1]: src/a.py", "[1]: src/a.py"),
        ("~~kept~~", "~~kept~~"),
        (":smile: [red]x[/red]", ":smile: [red]x[/red]"),
        ("**bold** and *slanted*", "bold and slanted"),
        ("这是**重点**文字", "这是重点文字"),
        ("[label](src/a.py)", "label (src/a.py)"),
        ("![alt](x.png)", "!alt (x.png)"),
        ("one\ntwo", "one\ntwo"),
        ("### Title", "Title"),
    ],
)
def test_prose_about_code_stays_readable(text, shown):
    assert rendered(text) == shown


def test_a_narrow_table_folds_and_loses_nothing():
    shown = rendered(
        "| path | x |\n|---|---|\n| src/deep/module_name.py | abcdefghijkl |", width=20
    )

    columns = [(line[:11].strip(), line[11:].strip()) for line in shown.split("\n")[2:]]
    assert "".join(left for left, _ in columns).endswith("src/deep/module_name.py")
    assert "".join(right for _, right in columns).endswith("abcdefghijkl")
    assert "…" not in shown


def test_places_in_backticks_are_linked():
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=True, color_system="standard")

    print_markdown(
        console,
        "see `a.py:1-2` and `other`",
        link_for=lambda text: "file:///r/a.py#1" if text == "a.py:1-2" else None,
    )

    assert file.getvalue().count("file:///r/a.py#1") == 1


class Pipe(io.StringIO):
    """Remember each write and flush."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def write(self, text):
        self.calls.append(text)
        return super().write(text)

    def flush(self):
        self.calls.append("<flush>")


def test_a_pipe_gets_raw_markdown_as_it_arrives():
    pipe = Pipe()

    with open_stream(Console(file=pipe, width=20)) as stream:
        stream.feed("# T\n**bold** __init__ ")
        stream.feed("a line that is longer than twenty columns")

    assert pipe.getvalue() == "# T\n**bold** __init__ a line that is longer than twenty columns\n"
    assert pipe.calls[:4] == [
        "# T\n**bold** __init__ ",
        "<flush>",
        "a line that is longer than twenty columns",
        "<flush>",
    ]


def test_a_dumb_terminal_gets_raw_markdown():
    console = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})

    assert isinstance(open_stream(console), RawStream)


def test_controls_reach_neither_pipe_nor_terminal():
    pipe = io.StringIO()
    with RawStream(Console(file=pipe)) as stream:
        for piece in ("a\x1b", "]0;owned\x07\r", "\nb"):
            stream.feed(piece)
    screen = io.StringIO()
    with MarkdownStream(Console(file=screen, force_terminal=True, color_system=None)) as stream:
        stream.feed("a\x1b]0;owned\x07")

    assert pipe.getvalue() == "a\\x1b]0;owned\\x07\nb\n"
    assert "\x1b]" not in screen.getvalue()
    assert "\\x1b]0;owned\\x07" in screen.getvalue()


def test_what_had_arrived_stays_when_the_stream_breaks_off():
    file = io.StringIO()
    console = Console(file=file, width=40, height=10, force_terminal=True, color_system=None)

    with pytest.raises(KeyboardInterrupt), MarkdownStream(console, clock=lambda: 0.0) as stream:
        stream.feed("first words")
        stream.feed(" and more")
        raise KeyboardInterrupt

    lines = screen_lines(file.getvalue().encode(), 40, 10)
    assert [line for line in lines if line] == ["first words and more"]


def test_a_closed_pipe_stays_quiet():
    reader, writer = os.pipe()
    os.close(reader)
    file = os.fdopen(writer, "w")

    with pytest.raises(BrokenPipeError), RawStream(Console(file=file)) as stream:
        stream.feed("text")

    with contextlib.suppress(BrokenPipeError):
        file.close()


@given(
    st.lists(
        st.sampled_from(
            [
                *("word ", "\n", "\n\n", "- ", "1. ", "```\n", "| a | b |\n", "|---|---|\n"),
                *("# ", "> ", "**b**", "`c`", "日本", "x" * 30, "    ", "---\n"),
            ]
        ),
        max_size=25,
    )
)
@settings(max_examples=120, deadline=None)
def test_pieces_end_in_the_same_screen_as_their_blocks(pieces):
    ticks = iter(range(10_000))
    file = io.StringIO()
    console = Console(file=file, width=24, height=8, force_terminal=True, color_system=None)

    with MarkdownStream(console, clock=lambda: float(next(ticks))) as stream:
        for piece in pieces:
            stream.feed(piece)

    lines = [line for line in screen_lines(file.getvalue().encode(), 24, 8) if line]
    still = io.StringIO()
    quiet = Console(file=still, width=24, height=8, force_terminal=True, color_system=None)
    with MarkdownStream(quiet, clock=lambda: -1.0) as stream:
        for piece in pieces:
            stream.feed(piece)
    assert lines == [line for line in screen_lines(still.getvalue().encode(), 24, 8) if line]
