from dataclasses import replace

from askcode.cli import rendering
from askcode.cli.rendering import Prices
from askcode.packing import Omitted, Packed
from askcode.records import (
    Answer,
    Chunk,
    Citation,
    Description,
    EmbedderIdentity,
    Estimate,
    Excerpt,
    FailedFile,
    FilePlan,
    Hit,
    IndexPlan,
    IndexReport,
    Question,
    Retrieved,
    Skipped,
    Usage,
)

CODE = "\n".join(f"line {number}" for number in range(9, 21))
HITS = (
    Hit(
        Chunk("app/[id]/page.tsx", 9, 20, CODE, symbol="Page"),
        Description(),
        "digest",
        0.5,
        relevance=0.75,
        vector_rank=1,
        text_rank=3,
        shares={"vector": 0.3, "path": 0.2},
    ),
    Hit(Chunk("b.py", 1, 2, "x = 1\ny = 2"), Description(), "digest", 0.25, text_rank=1),
)
FOUND = Retrieved(HITS, stale=("b.py",))
QUESTION = Question("how?", ("how?", "what?"))
CITATIONS = (
    Citation("app/[id]/page.tsx", 9, 10, True),
    Citation("c.py", 3, 4, False, "the path is not among the excerpts"),
    Citation("excerpt 7", 0, 0, False, "there is no excerpt with this number"),
)
ANSWER = Answer("answer", QUESTION, "text", ("app/[id]/page.tsx", "b.py"), CITATIONS, FOUND)


def test_a_hit_shows_place_score_symbol_and_first_lines():
    assert rendering.hit_lines(FOUND) == [
        "app/[id]/page.tsx:9-20  0.5000  Page",
        "     9  line 9",
        *(f"    {number}  line {number}" for number in range(10, 17)),
        "        ... 4 more lines",
        "",
        "b.py:1-2  0.2500  [changed since indexed]",
        "    1  x = 1",
        "    2  y = 2",
    ]


def test_explained_hits_show_how_they_got_their_score():
    lines = rendering.hit_lines(FOUND, explain=True)

    assert lines[1] == (
        "    vector rank 1, text rank 3, vector +0.3000, path +0.2000, relevance 0.75"
    )


def test_nothing_found_names_the_nearest_files():
    assert rendering.hit_lines(Retrieved(())) == ["not found in the indexed code"]
    assert rendering.nothing_found_lines(Retrieved((), nearest=("a.py",))) == [
        "not found in the indexed code",
        "",
        "Nearest files:",
        "  - a.py",
    ]


def test_excerpts_leave_out_files_that_are_gone():
    lines = rendering.excerpt_lines(replace(FOUND, deleted=("b.py",)))

    assert lines[0] == "app/[id]/page.tsx:9-20  Page"
    assert lines[-1] == "    20  line 20"
    assert not any("b.py" in line for line in lines)


def test_sources_are_one_path_a_line_and_a_changed_one_is_marked():
    assert rendering.source_lines(ANSWER) == [
        "Sources:",
        "  - app/[id]/page.tsx",
        "  - b.py [changed since indexed]",
    ]


def test_sources_on_a_terminal_show_the_lines_used():
    assert rendering.source_lines(ANSWER, with_places=True)[1] == "  - app/[id]/page.tsx  (9-10)"
    excerpts = replace(ANSWER, mode="excerpts", citations=())
    assert rendering.source_lines(excerpts, with_places=True)[1] == (
        "  - app/[id]/page.tsx  (9-20)"
    )


def test_no_sources_are_none():
    assert rendering.source_lines(replace(ANSWER, sources=())) == ["Sources: none"]


def test_citations_are_counted_and_the_failing_listed():
    assert rendering.citation_lines(CITATIONS) == [
        "1 of 3 citations verified",
        "  - c.py:3-4: the path is not among the excerpts",
        "  - excerpt 7: there is no excerpt with this number",
    ]


def test_an_explained_answer_says_what_was_searched_sent_and_left_out():
    packed = Packed(
        (Excerpt(1, "b.py", 1, 2, "x", is_cut=True),), (Omitted("z.py:1-9", "no room"),), 42
    )

    lines = rendering.explain_lines(replace(ANSWER, unknown_identifiers=("frob",)), packed)

    assert lines[:3] == ["Searched:", "  - how?", "  - what?"]
    assert lines[5] == "   2. b.py:1-2  0.2500  text rank 1, relevance 0.00"
    assert lines[6:] == [
        "Sent: 1 excerpt, 42 tokens",
        "  [1] b.py:1-2 (cut)",
        "Left out:",
        "  - z.py:1-9: no room",
        "Names in the answer that no excerpt has: frob",
    ]


def test_a_path_cannot_forge_a_line():
    evil = Hit(Chunk("a\nSources:\x1b[2J.py", 1, 1, "x"), Description(), "digest", 1.0)

    assert rendering.hit_lines(Retrieved((evil,)))[0] == "a\\nSources:\\x1b[2J.py:1-1  1.0000"


PLAN = IndexPlan(
    (
        FilePlan("a.py", "index", "new", 10, "python"),
        FilePlan("b.py", "unchanged"),
        FilePlan("x.bin", "skip", "binary", 3),
    ),
    ("c.py",),
    4,
    Estimate(2, 1_500_000, 500_000, 2),
)


def test_a_plan_says_what_would_happen_and_cost():
    assert rendering.plan_lines(PLAN, Prices(0.5, 2.0), verbose=False) == [
        "index     a.py  (new)",
        "leave out x.bin  (binary)",
        "remove    c.py",
        "1 file unchanged, 1 left out, 1 to remove",
        "1 file to index, 4 chunks, 2 LLM calls, 1,500,000 input and 500,000 output tokens, "
        "2 chunks reused, cost 1.7500",
    ]


def test_a_verbose_plan_names_unchanged_files_and_no_prices_no_cost():
    lines = rendering.plan_lines(PLAN, Prices(), verbose=True)

    assert "unchanged b.py" in lines
    assert "cost" not in lines[-1]


REPORT = IndexReport(
    indexed=1,
    unchanged=2,
    removed=0,
    skipped=(Skipped("x.bin", "binary"), Skipped("big.py", "too large", "20.0 MB")),
    failed=(FailedFile("a.py", "refused"),),
    chunks_written=1,
    chunks_total=9,
    usage=Usage(1, 20, 30),
    reused=4,
    embedder=EmbedderIdentity("bundled", "d", 256),
    seconds=1.26,
    masked_secrets=1,
)


def test_a_report_counts_what_was_done():
    assert rendering.report_lines(REPORT, verbose=False) == [
        "1 file indexed, 2 unchanged, 0 removed, 2 left out",
        "1 chunk written, 9 in the index",
        "1 LLM call, 20 input and 30 output tokens, 4 chunks reused",
        "1 secret masked before leaving this machine",
        "left out: binary 1, too large 1 (each by name: --verbose)",
        "failed: a.py: refused",
        "done in 1.3 s",
    ]


def test_a_verbose_report_names_each_left_out_file():
    assert "left out: big.py (too large: 20.0 MB)" in rendering.report_lines(REPORT, verbose=True)


def test_status_shows_freshness_and_where_settings_came_from():
    status = rendering.Status(
        root="/r",
        index_dir="/r/.askcode",
        files=3,
        chunks=1200,
        languages={"go": 1, "python": 2},
        questions=7,
        bytes=3 * 1024**2,
        embedder=EmbedderIdentity("bundled", "d", 256),
        new=1,
        deleted=2,
        settings=(rendering.ShownSetting("top_k", "20", "default"),),
    )

    lines = rendering.status_lines(status)

    assert "chunks:    1,200" in lines
    assert "languages: python 2, go 1" in lines
    assert "LLM:       none" in lines
    assert "freshness: 1 new, 2 deleted since it was made" in lines
    assert lines[-2:] == ["settings:", "  top_k  20  (default)"]
