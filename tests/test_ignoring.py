"""Our ignore rules against git's own, on trees and ignore files made up at random."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from askcode.ignoring import IgnoreFiles, PatternList, glob_regex, parse_patterns
from askcode.listing import list_candidates
from askcode.walking import walk

NAMES = ["a", "b", "ab", "a.py", "b.py", "A.py", "a b", "#x", "!x", "é", "build", "-", "]", "a\\b"]
ATOMS = [
    *NAMES, "*", "**", "?", "/", "/", "/", "*.py", "[ab]", "[!a]", "[^b]", "[a-c]", "[]]",
    "[", "\\", "\\#", "\\!", "\\*", " ", "\t", ".", "**/", "/**", "/**/", "***", "[a", "[\\]]",
    "[a-]", "[[:alpha:]]", "[[:nope:]]", "[/]", "[!/]", "[b-a]",
]  # fmt: skip


def lines():
    line = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=5).map("".join)
    ends = st.sampled_from(["", "", "/", "\r", " "])
    negated = st.tuples(st.sampled_from(["", "", "!"]), line, ends)
    return st.one_of(
        negated.map("".join), st.sampled_from(["*", "!*/", "!a.py", "build/", "# c", ""])
    )


def ignore_files():
    mark = st.sampled_from(["", "", "\ufeff"])
    return st.tuples(mark, st.lists(lines(), max_size=5)).map(lambda x: x[0] + "\n".join(x[1]))


def paths():
    return st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


def make_tree(root, files, ignore):
    for path in sorted(files):
        place = root / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("x")
        except OSError:  # a file stands where a folder should, or the other way round
            continue
    for folder, content in ignore.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text(content)


def git(root, *arguments):
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True)
    return done.stdout


def listed_by_git(root):
    return {
        path
        for path in git(root, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")
        if path
    }


@pytest.fixture(scope="module")
def empty_repository(tmp_path_factory):
    place = tmp_path_factory.mktemp("template")
    git(place, "-c", "init.defaultBranch=main", "init", "-q")
    return place


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    files=st.sets(paths(), min_size=1, max_size=12),
    ignore=st.dictionaries(
        st.sampled_from(["", "a", "b", "a/b", "build"]), ignore_files(), max_size=3
    ),
    own=ignore_files(),
)
@example(files={"build/keep.py"}, ignore={"": "build\n!keep.py\n"}, own="")
@example(files={"foo/x/bar", "foo1/bar"}, ignore={"": "foo**/bar\n"}, own="")
def test_our_walk_lists_what_git_lists(empty_repository, tmp_path_factory, files, ignore, own):
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["cp", "-r", str(empty_repository / ".git"), str(root)], check=True)
    make_tree(root, files, ignore)
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text(own)

    expected = listed_by_git(root)

    assert set(walk(root).paths) == expected
    assert set(list_candidates(root).paths) == expected


def excluded(patterns, path, *, is_folder=False):
    found = PatternList(b"", parse_patterns(patterns)).verdict(path, is_folder=is_folder)
    return bool(found)


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (b"*.log", b"deep/a.log", True),
        (b"/top.py", b"deep/top.py", False),
        (b"a/b.py", b"x/a/b.py", False),
        (b"foo/**/tmp", b"foo/tmp", True),
        (b"foo/**/tmp", b"foo/a/b/tmp", True),
        (b"**/gen/*.py", b"gen/a.py", True),
        (b"gen/*.py", b"gen/deep/a.py", False),
        (b"a   ", b"a", True),
        (b"a\\ ", b"a ", True),
        (b"a\t", b"a", False),
        (b"\\#a", b"#a", True),
        (b"\\!a", b"!a", True),
        (b"a\r\nb\r\n", b"a", True),
        (b"\xef\xbb\xbfa", b"a", True),
        (b"[a", b"[a", False),
        (b"*.tm[pq]", b"z.tmq", True),
        (b"dir/", b"dir", False),
        (b"*\n!keep", b"keep", False),
    ],
)
def test_one_pattern_follows_the_manual(patterns, path, expected):
    assert excluded(patterns, path) is expected


def test_a_hostile_glob_does_not_take_for_ever():
    regex = glob_regex(b"*a" * 40 + b"b")

    assert regex is not None
    assert not regex.fullmatch(b"a" * 250)


def test_nothing_brings_back_what_a_folder_hides(tmp_path):
    (tmp_path / ".gitignore").write_text("build\n!keep.py\n")
    ignore = IgnoreFiles(tmp_path, ".gitignore")

    assert ignore.hides(b"build/keep.py")
    assert not ignore.hides(b"keep.py")


def test_an_ignore_file_that_is_a_pipe_or_a_link_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "sub").mkdir()
    (tmp_path / "rules").write_text("*\n")
    (tmp_path / "sub/.gitignore").symlink_to("../rules")
    ignore = IgnoreFiles(tmp_path, ".gitignore")

    assert not ignore.hides(b"a.py")
    assert not ignore.hides(b"sub/a.py")


def test_case_counts_unless_the_repository_says_otherwise(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("Build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/a.py").write_text("x")

    assert b"build/a.py" in walk(tmp_path).paths
    git(tmp_path, "config", "core.ignoreCase", "true")
    assert set(walk(tmp_path).paths) == listed_by_git(tmp_path) == {b".gitignore"}


def test_the_users_own_ignore_file_counts(tmp_path, monkeypatch):
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.swp").write_text("x")
    (root / "a.py").write_text("x")
    (tmp_path / "config/git").mkdir(parents=True)
    (tmp_path / "config/git/ignore").write_text("*.swp\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    assert walk(root).paths == (b"a.py",)
    assert walk(root, excludes_file=Path(os.devnull)).paths == (b"a.py", b"a.swp")
