"""Grammars of whichever bundle is installed."""

import importlib.util
import logging
import subprocess
import sys

import pytest

from askcode.definition_nodes import DEFINITIONS
from askcode.grammars import parse, parser_for

PARSED = {
    "python": b"def f(): pass\n",
    "c_sharp": b"class A {}\n",
    "embedded_template": b"<a><%= b %></a>\n",
    "typescript": b"let a: string;\n",
    "commonlisp": b"(defun f ())\n",
    "go": b"package a\n",
}


@pytest.mark.parametrize("language", PARSED)
def test_a_grammar_parses(language):
    tree = parse(language, PARSED[language])

    assert tree is not None
    assert not tree.root_node.has_error


def test_a_parser_is_made_once():
    assert parser_for("python") is parser_for("python")


@pytest.mark.parametrize("language", ["markdown", "no_such_language", ""])
def test_languages_without_a_usable_grammar_have_no_parser(language, caplog):
    with caplog.at_level(logging.WARNING):
        assert parser_for(language) is None
        assert parse(language, b"# a\n") is None

    assert caplog.records == []


def test_a_parser_can_be_used_after_a_parse_that_did_not_end():
    parse("lua", b"x\n")

    tree = parse("lua", b"x=1")

    assert tree is not None
    assert tree.root_node.type == "chunk"


BOTH = sorted(set(DEFINITIONS) - {"sqlite", "fixed_form_fortran", "ocaml_interface", "ql"})
ONE_BUNDLE = {"cmake", "dart", "graphql", "powershell", "proto", "scss", "solidity", "swift", "zig"}


@pytest.mark.parametrize("language", sorted(set(BOTH) - ONE_BUNDLE))
def test_languages_with_definitions_have_a_grammar(language):
    assert parser_for(language) is not None


BROKEN_BUNDLE = """
import sys, types
def fail(language): raise TypeError("__init__() takes exactly 1 argument (2 given)")
for name in ("tree_sitter_languages", "tree_sitter_language_pack"):
    module = types.ModuleType(name)
    module.get_parser = fail
    module.__spec__ = types.SimpleNamespace()
    sys.modules[name] = module
from askcode.chunking import Chunker
from askcode.records import SourceFile
chunker = Chunker(count_tokens=lambda texts: [1] * len(texts), max_tokens=9)
for path in ("a.rs", "b.rs"):
    print([chunk.location for chunk in chunker.chunk(SourceFile(path, "fn a() {}\\n", "rust", ""))])
"""


def test_a_bundle_that_does_not_fit_warns_once_and_files_are_cut_by_lines():
    done = subprocess.run(
        [sys.executable, "-c", BROKEN_BUNDLE], capture_output=True, text=True, check=True
    )

    assert done.stdout == "['a.rs:1-1']\n['b.rs:1-1']\n"
    assert done.stderr.count("no grammar for rust") == 1


def test_a_bundle_is_installed():
    bundles = ("tree_sitter_languages", "tree_sitter_language_pack")

    assert any(importlib.util.find_spec(name) for name in bundles)
