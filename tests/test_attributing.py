"""Our reading of .gitattributes against git's own."""

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askcode.attributing import Attributes

PATTERNS = [
    "*.py", "a.py", "/a.py", "a", "a/", "a/*", "a/**", "**/b.py", "a/**/b.py", "*", "[ab].py",
    '"a b.py"', "b/a.py", "\\*.py",
]  # fmt: skip
VALUES = [
    "linguist-generated", "-linguist-generated", "!linguist-generated", "linguist-generated=true",
    "linguist-generated=false", "linguist-vendored", "text -linguist-generated",
]  # fmt: skip
PATHS = ["a.py", "b.py", "a b.py", "a/a.py", "a/b.py", "a/b/a.py", "a/b/b.py", "c/a/b.py", "b/a.py"]


def contents():
    line = st.tuples(st.sampled_from(PATTERNS), st.sampled_from(VALUES)).map(" ".join)
    return st.lists(st.one_of(line, st.sampled_from(["# c", "", "[attr]x text"])), max_size=4).map(
        "\n".join
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("attributes")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    return root


def said_by_git(root):
    command = ["git", "check-attr", "-z", "linguist-generated", "--", *PATHS]
    done = subprocess.run(command, cwd=root, capture_output=True, check=True)
    fields = done.stdout.decode().split("\0")
    values = {"set": True, "true": True, "unset": False, "false": False, "unspecified": None}
    return {path: values[value] for path, value in zip(fields[0::3], fields[2::3], strict=False)}


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(files=st.dictionaries(st.sampled_from(["", "a", "a/b"]), contents(), max_size=3))
def test_attributes_are_what_git_says(repository, files):
    for folder in ("", "a", "a/b"):
        (repository / folder / ".gitattributes").write_text(files.get(folder, ""))
    listed = [".gitattributes", "a/.gitattributes", "a/b/.gitattributes"]

    attributes = Attributes(repository, [path.encode() for path in listed])

    ours = {path: attributes.value(path.encode(), "linguist-generated") for path in PATHS}
    assert ours == said_by_git(repository)
