import re

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.globbing import glob_regex, literal_glob, path_rule

FITS = [
    ("*.py", "a.py", True),
    ("*.py", "src/deep/a.py", True),
    ("*.py", "a.py\n", False),
    ("*.py", "a.pyc", False),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/deep/a.py", False),
    ("src/*.py", "lib/src/a.py", False),
    ("src/**/*.py", "src/a.py", True),
    ("src/**/*.py", "src/b/c/a.py", True),
    ("**/a.py", "a.py", True),
    ("**", "any/thing", True),
    ("src/**", "src/a", True),
    ("src/**", "src", False),
    ("src", "src/a.py", True),
    ("src", "lib/src/a.py", True),
    ("/src", "lib/src/a.py", False),
    ("src/", "src/a.py", True),
    ("src/", "lib/src", False),
    ("./src/a.py", "src/a.py", True),
    (".", "any/thing", True),
    ("[a-c].py", "b.py", True),
    ("[!a-c].py", "b.py", False),
    ("[!a-c].py", "d.py", True),
    ("a[!b]c", "a/c", False),
    ("[]].py", "].py", True),
    ("[z-a].py", "b.py", False),
    ("[a.py", "[a.py", True),
    ("\\[id\\].ts", "[id].ts", True),
    ("?.py", "é.py", True),
    ("?.py", "ab.py", False),
    ("a+b(c)|d.py", "a+b(c)|d.py", True),
    ("a<b>_#~&.py", "a<b>_#~&.py", True),
    ("new\nline.*", "new\nline.py", True),
    ("*.PY", "a.py", False),
]


@pytest.mark.parametrize(("glob", "path", "fits"), FITS)
def test_globs_fit_as_in_ignore_files(glob, path, fits):
    assert path_rule([glob]).allows(path) is fits


def test_no_globs_let_everything_through():
    assert path_rule([]).allows("any/thing")


def test_a_negated_glob_takes_out_what_others_let_through():
    rule = path_rule(["!tests/", "*.py"])

    assert rule.allows("src/a.py")
    assert not rule.allows("tests/a.py")
    assert not rule.allows("src/a.go")


def test_negated_globs_alone_let_all_else_through():
    assert path_rule(["!*.md"]).allows("a.py")
    assert not path_rule(["!*.md"]).allows("docs/a.md")


NAMES = st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=4)
PARTS = st.text("ab.*?", min_size=1, max_size=3).filter(lambda part: "**" not in part)
GLOBS = st.tuples(
    st.sampled_from(["", "/"]),
    st.lists(PARTS | st.just("**"), min_size=1, max_size=3),
    st.sampled_from(["", "/"]),
)


@given(NAMES, GLOBS)
def test_globs_agree_with_another_reading_of_ignore_files(names, pieces):
    head, parts, tail = pieces
    path, glob = "/".join(names), head + "/".join(parts) + tail
    if any(part in (".", "..") for part in [*names, *parts]) or "**/**" in glob:
        return
    if parts[-1] == "**" and tail:
        return

    expected = pathspec.GitIgnoreSpec.from_lines([glob]).match_file(path)

    assert (re.fullmatch(glob_regex(glob), path) is not None) is expected


@pytest.mark.parametrize(
    "path", ["plain.py", "a/[id].tsx", "what?.py", "st*r.py", "back\\slash", "]"]
)
def test_a_literal_glob_fits_its_path_alone(path):
    rule = path_rule([f"/{literal_glob(path)}"])

    assert rule.allows(path)
    assert not any(rule.allows(other) for other in ("a/i.tsx", "whatx.py", "starr.py", "backslash"))
