from pathlib import Path

import pytest

from askcode.choosing_repositories import choose
from askcode.errors import IndexDamaged, UsageError
from askcode.repositories import (
    Repository,
    Roots,
    dump_repositories,
    named,
    parse_repositories,
    path_below,
    read_list,
)


def names(roots, known=()):
    return [each.name for each in named([Path(root) for root in roots], list(known))]


@pytest.mark.parametrize(
    ("roots", "expected"),
    [
        (["/w/shop", "/w/tools"], ["shop", "tools"]),
        (["/a/shop", "/b/shop"], ["shop", "b-shop"]),
        (["/a/b/shop", "/c/b/shop", "/d/b/shop"], ["shop", "b-shop", "shop-2"]),
        (["/shop", "/x:y/a b"], ["shop", "a-b"]),
        (["/w/shop", "/w/shop"], ["shop"]),
        (["/", "/w/日本"], ["root", "日本"]),
    ],
)
def test_each_folder_gets_a_name_of_its_own(roots, expected):
    assert names(roots) == expected


def test_a_repository_keeps_its_name_whatever_comes_before_it():
    known = named([Path("/a/shop"), Path("/b/shop")], [])

    assert names(["/b/shop", "/c/shop", "/a/shop"], known) == ["b-shop", "c-shop", "shop"]


def test_the_list_comes_back_as_it_was_kept():
    kept = [Repository("a", "/a", 256), Repository("b", "/b\udcff", 64)]

    assert parse_repositories(dump_repositories(kept), place="p") == kept
    assert parse_repositories(None, place="p") == []


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"repositories": [{"name": 1}]}'])
def test_a_damaged_list_is_a_damaged_index(data):
    with pytest.raises(IndexDamaged, match=r"p/repositories\.json"):
        parse_repositories(data, place="p")


@pytest.mark.parametrize(
    ("path", "below"),
    [
        ("shop:tests/a.py", "tests/a.py"),
        ("tests/a.py", "tests/a.py"),
        ("src/a:b/c.py", "src/a:b/c.py"),
        ("shop:a:b.py", "a:b.py"),
        (":a", ":a"),
    ],
)
def test_the_name_in_front_is_no_part_of_the_path(path, below):
    assert path_below(path) == below


def test_a_path_is_looked_for_below_its_own_root():
    several = Roots(Path("/w"), {"shop": Path("/a/shop")})

    place = several.locate("shop:a:b/c.py")

    assert (place.root, place.path) == (Path("/a/shop"), "a:b/c.py")
    assert not several.locate("other:x.py").root.exists()
    assert Roots(Path("/w")).locate("shop:x.py").path == "shop:x.py"


def test_a_file_lists_folders_with_names_or_without(tmp_path):
    for folder in ("shop", "a b"):
        (tmp_path / folder).mkdir()
    file = tmp_path / "list"
    file.write_text(f"# all of them\n\n  first = shop \n{tmp_path}/a b\n")

    assert read_list(file) == {tmp_path / "shop": "first", tmp_path / "a b": ""}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("none\n", "line 1: none is not a directory"),
        ("x=.\nx=..\n", "line 2: the name x is given twice"),
        ("# nothing\n", "names no repository"),
        (b"\xff\xfe", "cannot read"),
    ],
)
def test_a_list_that_cannot_be_used_is_wrong_use(tmp_path, text, told):
    file = tmp_path / "list"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(UsageError, match=told):
        read_list(file)


def test_without_a_folder_all_that_are_there_are_chosen(tmp_path):
    known = [Repository("here", str(tmp_path)), Repository("gone", "/nowhere/gone")]

    chosen = choose([], {}, known, whole=False)

    assert [each.name for each in chosen.repositories] == ["here"]
    assert chosen.notes == (
        "gone is left as it is: /nowhere/gone is not there; "
        "`askcode remove gone` takes it out of the index",
    )


def test_a_name_in_a_list_moves_a_repository_to_another_folder(tmp_path):
    known = [Repository("shop", "/elsewhere/shop", 256)]

    chosen = choose([], {tmp_path: "shop"}, known, whole=False)

    assert chosen.repositories == (Repository("shop", str(tmp_path), 256),)
