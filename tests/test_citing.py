"""Each file in cases/citing holds cases; their format:

=== name of the case
excerpts: path:start-end, one a line; their lines are "<path> line <number>"
disk: optional, path followed by `gone`, `+N` (N lines put in front) or `blank N-M`
--- answer
--- text          the answer as it should be shown
--- citations     path:start-end | holds or fails | why
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askcode.citing import check_citations, summarize, unknown_identifiers
from askcode.records import Citation, Excerpt

CASES = Path(__file__).parent / "cases" / "citing"
ROOT = "/home/ada/shop"
FILE_LINES = 120


@dataclass
class Case:
    name: str
    excerpts: list
    disk: dict
    answer: str
    text: str
    citations: str


def file_lines(path):
    return [f"{path} line {number}" for number in range(1, FILE_LINES + 1)]


def excerpt(number, location, blank):
    path, start, end = re.fullmatch(r"(.*):(\d+)-(\d+)", location).groups()
    lines = ["" if n in blank else line for n, line in enumerate(file_lines(path), start=1)]
    text = "\n".join(lines[int(start) - 1 : int(end)])
    return Excerpt(number, path, int(start), int(end), text)


def read_case(source):
    head, answer, text, citations = re.split(
        r"^--- (?:answer|text|citations)\n", source, flags=re.MULTILINE
    )
    name, _, head = head.partition("\n")
    shown, _, changes = head.removeprefix("excerpts:").partition("disk:")
    locations = [line.strip() for line in shown.splitlines() if line.strip()]
    disk = {location.rpartition(":")[0]: None for location in locations}
    disk = {path: file_lines(path) for path in disk}
    for change in (line.strip() for line in changes.splitlines() if line.strip()):
        path, what, *rest = change.rsplit(" ", 2 if " blank " in change else 1)
        if what == "gone":
            disk[path] = None
        elif what == "blank":
            first, last = map(int, rest[0].split("-"))
            disk[path] = [
                "" if first <= n <= last else line for n, line in enumerate(disk[path], 1)
            ]
        else:
            disk[path] = ["new"] * int(what) + disk[path]
    excerpts = [excerpt(number, each, ()) for number, each in enumerate(locations, start=1)]
    return Case(name, excerpts, disk, answer.rstrip("\n"), text.rstrip("\n"), citations.strip("\n"))


def cases():
    for path in sorted(CASES.glob("*.txt")):
        for source in path.read_text(encoding="utf-8").split("=== ")[1:]:
            case = read_case(source)
            yield pytest.param(case, id=f"{path.stem}: {case.name}")


def shown_citation(citation):
    holds = "holds" if citation.valid else "fails"
    why = f" | {citation.why}" if citation.why else ""
    return f"{citation.path}:{citation.start_line}-{citation.end_line} | {holds}{why}"


@pytest.mark.parametrize("case", list(cases()))
def test_citations_are_repaired_or_marked(case):
    checked = check_citations(case.answer, case.excerpts, read_lines=case.disk.get, root=ROOT)

    assert checked.text == case.text
    assert "\n".join(map(shown_citation, checked.citations)) == case.citations


@pytest.mark.parametrize("case", list(cases()))
def test_a_checked_answer_stays_as_it_is(case):
    once = check_citations(case.answer, case.excerpts, read_lines=case.disk.get, root=ROOT)
    held = [each for each in once.citations if each.valid]

    again = check_citations(once.text, case.excerpts, read_lines=case.disk.get, root=ROOT)

    assert [(each.path, each.start_line, each.end_line) for each in again.citations if each.valid][
        : len(held)
    ] == [(each.path, each.start_line, each.end_line) for each in held]


def test_there_are_cases_enough():
    assert len(list(cases())) >= 60


EXCERPTS = [excerpt(1, "src/cache.py:10-20", ()), excerpt(2, "src/app/[id]/page.tsx:1-9", ())]


@given(
    st.lists(
        st.sampled_from(
            [
                "src/cache.py",
                "cache.py",
                ":",
                "12",
                "-",
                "#L",
                " lines ",
                "[1]",
                "[",
                "]",
                "(",
                ")",
                "`",
                "```\n",
                "\n",
                " ",
                "中",
                "，",
                "page.tsx",
                "a/",
                "\\",
                "http://",
                "excerpt 1",
                "é",
            ]
        ),
        max_size=40,
    ).map("".join)
)
@settings(max_examples=300, deadline=None)
def test_any_answer_is_checked_without_losing_its_words(answer):
    checked = check_citations(answer, EXCERPTS, read_lines=file_lines)

    assert all(1 <= each.start_line <= each.end_line for each in checked.citations if each.valid)
    if not checked.citations:
        assert checked.text == answer


@pytest.mark.parametrize(
    "answer",
    [
        "/" * 50_000,
        "a/" * 30_000,
        "lines 1 and " * 8_000,
        "[1]" * 9_000,
        "[a](" * 9_000,
        "`" * 50_000,
        "```\n" * 9_000,
        "%20" * 20_000,
        "cache.py:" + "1," * 40_000,
        "(a)" * 20_000,
    ],
    ids=lambda answer: answer[:12],
)
@pytest.mark.timeout(20)
def test_no_answer_takes_long_to_check(answer):
    check_citations(answer, EXCERPTS, read_lines=file_lines)


def test_the_summary_counts_what_holds():
    held = Citation("a.py", 1, 2, True)

    assert summarize([held] * 9) == "9 of 9 citations verified"
    assert summarize([held, Citation("b.py", 1, 2, False, "gone")]) == "1 of 2 citations verified"
    assert summarize([]) == "the answer cites no lines"


def test_names_that_no_excerpt_has_are_reported():
    shown = Excerpt(
        1, "src/cache.py", 1, 2, "class Cache:\n    def evict(self): ...", symbol="Cache"
    )
    answer = (
        "`Cache.evict` calls `purge_all()` and `Cache`; `cache.rs` is gone, `std::map` too, "
        "`None`, `--flag`, `x = 1`, ``pass_by``, `évincer`\n```\nin_code()\n```\n`asked_for`"
    )

    unknown = unknown_identifiers(answer, [shown], known="what is asked_for?")

    assert unknown == ("purge_all", "cache.rs", "std::map", "évincer")
