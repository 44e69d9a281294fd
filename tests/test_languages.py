"""Languages by suffix, name and first line."""

import pytest

from askcode.definition_nodes import DEFINITIONS
from askcode.languages import LANGUAGES, language_of
from askcode.line_patterns import PATTERNS


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/Main.java", "java"),
        ("UPPER.PY", "python"),
        ("types/index.d.ts", "typescript"),
        ("view.component.tsx", "tsx"),
        ("data.schema.json", "json"),
        ("go.mod", "gomod"),
        ("a/Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("Makefile", "make"),
        ("Makefile.in", "make"),
        ("config.yaml.example", "yaml"),
        ("README", "markdown"),
        ("Gemfile", "ruby"),
        ("CMakeLists.txt", "cmake"),
        ("notes.txt", "text"),
        ("n.ipynb", "notebook"),
        ("App.swift", "swift"),
        ("App.vue", "vue"),
        ("a.h", "c"),
        (".bashrc", "bash"),
        ("no_suffix", None),
        ("a.unknown", None),
        (".py", "python"),
        ("dir.py/file", None),
    ],
)
def test_names_tell_the_language(path, language):
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/env -S python3.11 -u", "python"),
        ("#! /usr/bin/env FOO=1 node --harmony", "javascript"),
        ("#!/usr/local/bin/ruby2.7", "ruby"),
        ("#!/usr/bin/env -S deno run", "typescript"),
        ("#!/usr/bin/awk -f", None),
        ("#!", None),
        ("# python", None),
    ],
)
def test_a_shebang_tells_the_language_of_a_file_without_suffix(first_line, language):
    assert language_of("bin/run", first_line) == language


def test_the_suffix_comes_before_the_shebang():
    assert language_of("a.rb", "#!/bin/sh") == "ruby"


def test_a_header_with_a_mode_line_is_cpp():
    assert language_of("a.h", "// -*- C++ -*-") == "cpp"


def test_tables_name_known_languages():
    assert set(DEFINITIONS) <= LANGUAGES
    assert set(PATTERNS) <= LANGUAGES
