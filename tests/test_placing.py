from __future__ import annotations

import pytest

from askcode.placing import Part, part_of, parts_asked_about


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_app.py",
        "src/app_test.go",
        "lib/app.spec.ts",
        "spec/models/user_spec.rb",
        "core/src/test/java/com/x/AppTest.java",
        "okio/src/commonTest/kotlin/okio/A.kt",
        "Tests/SessionTests.swift",
        "src/__tests__/app.js",
        "conftest.py",
        "IntegrationTests/Mapping.cs",
        "testdata/in.json",
    ],
)
def test_tests_are_known_by_their_path(path):
    assert part_of(path) is Part.TEST


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "docs/conf.py",
        "examples/todo/main.go",
        "benchmarks/run.py",
        "vendor/github.com/x/y.go",
        "third_party/zlib/inflate.c",
        ".github/workflows/ci.yml",
        "package.json",
        "CMakeLists.txt",
        "scripts/release.py",
        "CHANGES",
    ],
)
def test_what_stands_around_the_source_is_auxiliary(path):
    assert part_of(path) is Part.AUXILIARY


@pytest.mark.parametrize(
    "path",
    [
        "src/app.py",
        "src/tools/control.py",
        "lib/latest/contest.rb",
        "attestation.go",
        "protest/inspector.py",
        "src/specification.rs",
        "docset.py",
    ],
)
def test_source_stays_source(path):
    assert part_of(path) is Part.SOURCE


def test_a_question_says_what_it_is_about():
    assert parts_asked_about("where are sessions stored") == set()
    assert parts_asked_about("which tests cover sessions") == {Part.TEST}
    assert parts_asked_about("is there an example in the docs") == {Part.AUXILIARY}
    assert parts_asked_about("what does test_retry assert") == {Part.TEST}
    assert parts_asked_about("the latest contest") == set()
