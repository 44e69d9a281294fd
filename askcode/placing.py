"""Say what part of a project a file belongs to, and which parts a question is about."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from askcode.repositories import path_below


class Part(Enum):
    """What a file is for."""

    SOURCE = "source"
    TEST = "test"
    AUXILIARY = "auxiliary"
    """Examples, docs, benchmarks, vendored code, configuration, scripts."""


_TEST_FOLDER = re.compile(
    r"(^|/)(tests?|specs?|testing|testdata|fixtures?|__tests__|e2e|mocks?|__mocks__"
    r"|[\w-]*[-_]tests?|tests?[-_][\w-]*)/",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(
    r"(^|/)(tests?[-_][^/]*|[^/]*[-_.](tests?|specs?)|conftest|tests?|spec_helper)\.\w+$",
    re.IGNORECASE,
)
# commonTest/, FooTest.java, FooSpec.kt: without the capital, "latest" would be a test
_CAPITAL_TEST = re.compile(
    r"(^|/)([A-Za-z]*[a-z]Tests?/|[^/]*[a-z0-9](Tests?|Spec|Suite|TestCase)\.\w+$)"
)
_AUXILIARY_FOLDER = re.compile(
    r"(^|/)(_?examples?|docs?|documentation|samples?|demos?|bench(es|mark|marks|marking)?"
    r"|vendor(ed)?|third[-_]?party|node_modules|tutorials?|playground|fuzz(ing)?|\.[^/]+)/"
    r"|^(external|deps|scripts?|tools?|contrib|changes|news|website|site|support|perf)/",
    re.IGNORECASE,
)
_PROSE_FILE = re.compile(
    r"\.(md|markdown|rst|txt|adoc|org)$"
    r"|(^|/)(changelog|changes|history|readme|license|contributing|authors|copying)[^/]*$",
    re.IGNORECASE,
)
_CONFIGURATION_FILE = re.compile(
    r"\.(ya?ml|toml|json|ini|cfg|xml|html?|css|gradle|kts|properties|conf|csproj|sln|gemspec"
    r"|podspec|cmake|in|sh|bat|ps1|tmpl)$"
    r"|(^|/)(Makefile|Rakefile|Gemfile|CMakeLists\.txt|Dockerfile|setup\.py|\.[^/]*)$",
    re.IGNORECASE,
)

_ABOUT_TESTS = re.compile(
    r"\b(tests?|testing|tested|unittest|pytest|specs?|fixtures?|mocks?|mocking|assert\w*"
    r"|test_?\w+|\w+_tests?)\b",
    re.IGNORECASE,
)
_ABOUT_AUXILIARY = re.compile(
    r"\b(docs?|documentation|documented|readme|changelog|tutorials?|guides?|examples?|samples?"
    r"|quickstart|release notes|benchmarks?|vendored|configuration files?|CI|scripts?)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1 << 14)
def part_of(path: str) -> Part:
    """Return what the file at a path is for."""
    path = path_below(path)
    if any(rule.search(path) for rule in (_TEST_FOLDER, _TEST_FILE, _CAPITAL_TEST)):
        return Part.TEST
    rules = (_AUXILIARY_FOLDER, _PROSE_FILE, _CONFIGURATION_FILE)
    return Part.AUXILIARY if any(rule.search(path) for rule in rules) else Part.SOURCE


def parts_asked_about(question: str) -> frozenset[Part]:
    """Return the parts besides the source that a question speaks of."""
    rules = ((Part.TEST, _ABOUT_TESTS), (Part.AUXILIARY, _ABOUT_AUXILIARY))
    return frozenset(part for part, rule in rules if rule.search(question))
