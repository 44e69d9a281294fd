"""How the bytes of a file become text, and what is no text at all."""

import os
import socket
import threading

import pytest

from askcode.reading import current_digest, read_source, shown_size
from askcode.records import Skipped, SourceFile, digest_text

LIMIT = 1_000_000


def read(root, data, name="a.py", *, limit=LIMIT):
    (root / name).write_bytes(data)
    return read_source(root, name, max_bytes=limit)


def text_of(root, data, name="a.py"):
    source = read(root, data, name)
    assert isinstance(source, SourceFile)
    return source.text, source.note


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        (b"x = 1\n", "x = 1\n", ""),
        ("é = '日本🙂'\n".encode(), "é = '日本🙂'\n", ""),
        (b"\xef\xbb\xbfdef first():\n", "def first():\n", ""),
        ("\ufeffclass A {\r\n}\r\n".encode("utf-16-le"), "class A {\n}\n", "decoded as UTF-16"),
        ("\ufeffclass A {\n}\n".encode("utf-16-be"), "class A {\n}\n", "decoded as UTF-16"),
        ("\ufeffclass A {\n}\n".encode("utf-32-le"), "class A {\n}\n", "decoded as UTF-32"),
        ("\ufeffclass A {\n}\n".encode("utf-32-be"), "class A {\n}\n", "decoded as UTF-32"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n", ""),
        (b"# coding: no-such-charset\nx\n", "# coding: no-such-charset\nx\n", ""),
        (b"# coding: utf-16\nx\n", "# coding: utf-16\nx\n", ""),
        (b"# coding: hex\n00\n", "# coding: hex\n00\n", ""),
        (b"# coding: unicode_escape\n\\x41\n", "# coding: unicode_escape\n\\x41\n", ""),
        ("# coding: ascii\n'é'\n".encode(), "# coding: ascii\n'é'\n", ""),
        (b"/* \x93smart\x94 \x96 caf\xe9 */\n", "/* “smart” – café */\n", "decoded as cp1252"),
        (b"'a\xffb'\n", "'a\ufffdb'\n", "undecodable bytes replaced: 1"),
        ("'日本' é ".encode() + b"\xe9\n", "'日本' é \ufffd\n", "undecodable bytes replaced: 1"),
    ],
)
def test_bytes_are_decoded_as_they_were_written(tmp_path, data, text, note):
    assert text_of(tmp_path, data) == (text, note)


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("#!/usr/bin/python\n# vim: fileencoding=latin1\n'é'\n", "latin-1"),
        ("# -*- coding: shift_jis -*-\n# 日本\n", "shift_jis"),
        ("# coding: iso-2022-jp\n# 日本\n", "iso-2022-jp"),
        ('<?xml version="1.0" encoding="koi8-r"?>привет\n', "koi8-r"),
        ('<meta charset="windows-1251">привет\n', "cp1251"),
        ("/* привет */\n// vim: fenc=koi8-r\n", "koi8-r"),
        (";; -*- coding: euc-jp -*-\n;; 日本\n", "euc-jp"),
    ],
)
def test_a_charset_that_a_file_declares_is_believed(tmp_path, text, charset):
    assert text_of(tmp_path, text.encode(charset)) == (text, "")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"a\r\nb\nc\r\n", "a\nb\nc\n"),
        (b"a\rb\r", "a\nb\n"),
        (b"a\r\r\nb\n", "a\nb\n"),
        (b"a\rb\nc\n", "a\rb\nc\n"),
        ("a\u2028b\x0bc\x0cd\x85e\nf".encode(), "a\u2028b\x0bc\x0cd\x85e\nf"),
        (b"no end", "no end"),
    ],
)
def test_lines_are_an_editors_lines(tmp_path, data, text):
    assert text_of(tmp_path, data)[0] == text


def test_a_change_of_line_ends_or_mark_is_no_change(tmp_path):
    unix = read(tmp_path, b"def a():\n    return 1\n")
    windows = read(tmp_path, b"\xef\xbb\xbfdef a():\r\n    return 1\r\n")

    assert unix.digest == windows.digest == digest_text("def a():\n    return 1\n")


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\0\0\n",
        "class Nobom {}\n".encode("utf-16-le"),
        bytes(range(256)) * 64,
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
        b"\x1f\x8b\x08\x01" + bytes(range(128, 250)) * 40,
        bytes(byte for byte in range(1, 256)) * 3,
        b"\xff\xfe\x00\x00\x00\x00" * 20,
    ],
)
def test_what_is_no_text_is_binary(tmp_path, data):
    assert read(tmp_path, data) == Skipped("a.py", "binary", bytes=len(data))


def test_a_late_nul_is_replaced_and_the_rest_is_read(tmp_path):
    text, note = text_of(tmp_path, b"# pad\n" * 2000 + b"S = 'a\0b'\ndef late(): pass\n")

    assert text.endswith("S = 'a\ufffdb'\ndef late(): pass\n")
    assert note == "NUL bytes replaced: 1"


@pytest.mark.parametrize("data", [b"", b"\n \t\n\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n\r\n"])
def test_blank_files_are_empty(tmp_path, data):
    assert read(tmp_path, data) == Skipped("a.py", "empty", bytes=len(data))


def test_a_file_over_the_limit_is_not_read(tmp_path):
    assert read(tmp_path, b"x" * 101, limit=100) == Skipped("a.py", "too large", "0.1 kB", 101)
    assert isinstance(read(tmp_path, b"x" * 100, limit=100), SourceFile)


def test_a_notebook_has_room_for_its_pictures(tmp_path):
    assert isinstance(read(tmp_path, b"x" * 2000, "n.ipynb", limit=100), SourceFile)
    assert read(tmp_path, b"x" * 2001, "n.ipynb", limit=100).reason == "too large"


def test_sizes_are_shown_as_people_read_them():
    assert [shown_size(size) for size in (512, 20 * 1024**2, 3 * 1024**3)] == [
        "0.5 kB",
        "20.0 MB",
        "3.0 GB",
    ]


def test_nothing_is_followed_or_waited_for(tmp_path):
    (tmp_path / "real.py").write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to("real.py")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "through").symlink_to(".")
    os.mkfifo(tmp_path / "pipe.py")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "socket.py"))

    found = {
        name: read_source(tmp_path, name, max_bytes=LIMIT)
        for name in ("link.py", "loop", "folder", "through/real.py", "pipe.py", "socket.py")
    }
    server.close()

    assert {name: left and left.reason for name, left in found.items()} == {
        "link.py": "symlink",
        "loop": "symlink",
        "folder": "submodule",
        "through/real.py": None,
        "pipe.py": "special file",
        "socket.py": "special file",
    }


@pytest.mark.parametrize(
    "path", ["../out.py", "/etc/hostname", "a/../../out.py", "", "a\0b", "gone.py"]
)
def test_paths_that_lead_nowhere_inside_are_nothing(tmp_path, path):
    (tmp_path / "out.py").write_text("x\n")
    root = tmp_path / "root"
    root.mkdir()

    assert read_source(root, path, max_bytes=LIMIT) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_unreadable(tmp_path):
    (tmp_path / "a.py").write_text("x\n")
    (tmp_path / "a.py").chmod(0)

    assert read_source(tmp_path, "a.py", max_bytes=LIMIT).reason == "unreadable"


def test_an_impossible_name_is_unreadable(tmp_path):
    assert read_source(tmp_path, "n" * 300, max_bytes=LIMIT).reason == "unreadable"


def test_the_current_digest_tells_what_is_on_disk(tmp_path):
    indexed = read(tmp_path, b"x = 1\n")

    assert current_digest(tmp_path, "a.py", max_bytes=LIMIT) == indexed.digest
    (tmp_path / "a.py").write_bytes(b"x = 2\n")
    assert current_digest(tmp_path, "a.py", max_bytes=LIMIT) == digest_text("x = 2\n")
    (tmp_path / "a.py").unlink()
    assert current_digest(tmp_path, "a.py", max_bytes=LIMIT) is None


def test_a_file_that_flickers_between_pipe_and_file_never_blocks(tmp_path):
    stop = threading.Event()

    def flicker():
        while not stop.is_set():
            os.mkfifo(tmp_path / "new")
            os.replace(tmp_path / "new", tmp_path / "a.py")
            (tmp_path / "new").write_text("x = 1\n")
            os.replace(tmp_path / "new", tmp_path / "a.py")

    (tmp_path / "a.py").write_text("x = 1\n")
    worker = threading.Thread(target=flicker)
    worker.start()
    try:
        for _ in range(300):
            read_source(tmp_path, "a.py", max_bytes=LIMIT)
    finally:
        stop.set()
        worker.join()


def test_the_language_comes_from_name_or_first_line(tmp_path):
    assert read(tmp_path, b"x = 1\n").language == "python"
    assert read(tmp_path, b"#!/usr/bin/env python3\nx = 1\n", "tool").language == "python"
    assert read(tmp_path, b"plain words\n", "notes.weirdext").language is None
