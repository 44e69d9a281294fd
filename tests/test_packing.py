import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.packing import DELETED, NO_ROOM, Omitted, pack
from askcode.records import Chunk, Description, Excerpt, Hit


def hit(path, start, end, symbol=None):
    text = "\n".join(f"{path} {number}" for number in range(start, end + 1))
    return Hit(Chunk(path, start, end, text, symbol=symbol), Description(), "digest", 1.0)


def lines_of(excerpt):
    """A token a line, and one for the frame."""
    return excerpt.text.count("\n") + 2


def locations(packed):
    return [f"[{each.number}] {each.location}" for each in packed.excerpts]


def test_hits_are_packed_best_first_until_the_budget_is_full():
    hits = [hit("b.py", 1, 9), hit("a.py", 1, 9), hit("c.py", 1, 3)]

    packed = pack(hits, budget=24, measure=lines_of)

    assert locations(packed) == ["[1] b.py:1-9", "[2] a.py:1-9", "[3] c.py:1-3"]
    assert packed.tokens == 24
    assert packed.omitted == ()


def test_a_hit_that_does_not_fit_is_cut_at_a_line_and_told():
    packed = pack([hit("a.py", 11, 30)], budget=9, measure=lines_of)

    (excerpt,) = packed.excerpts
    assert excerpt.location == "a.py:11-18"
    assert excerpt.text.split("\n")[-1] == "a.py 18"
    assert excerpt.is_cut
    assert packed.omitted == (Omitted("a.py:19-30", NO_ROOM),)


def test_a_hit_without_room_is_left_out_and_a_smaller_one_still_fits():
    packed = pack(
        [hit("a.py", 1, 7), hit("b.py", 1, 30), hit("c.py", 1, 2)], budget=12, measure=lines_of
    )

    assert locations(packed) == ["[1] a.py:1-7", "[2] c.py:1-2"]
    assert packed.omitted == (Omitted("b.py:1-30", NO_ROOM),)


def test_one_endless_line_is_left_out():
    endless = Hit(Chunk("a.py", 1, 1, "x" * 10_000), Description(), "digest", 1.0)

    packed = pack([endless], budget=100, measure=lambda excerpt: len(excerpt.text))

    assert packed.excerpts == ()
    assert packed.omitted == (Omitted("a.py:1-1", NO_ROOM),)


def test_touching_and_overlapping_hits_become_one_excerpt():
    hits = [
        hit("a.py", 10, 14, "f"),
        hit("b.py", 1, 2),
        hit("a.py", 20, 24, "g"),
        hit("a.py", 13, 19, "f"),
        hit("a.py", 40, 44),
        hit("a.py", 41, 42),
    ]

    packed = pack(hits, budget=1000, measure=lines_of)

    assert locations(packed) == ["[1] a.py:10-24", "[2] b.py:1-2", "[3] a.py:40-44"]
    assert packed.excerpts[0].text == hit("a.py", 10, 24).chunk.text
    assert packed.excerpts[0].symbol is None


def test_deleted_files_are_not_sent_and_changed_ones_are_marked():
    packed = pack(
        [hit("gone.py", 1, 2), hit("new.py", 1, 2), hit("same.py", 1, 2)],
        budget=100,
        measure=lines_of,
        stale=("gone.py", "new.py"),
        deleted=("gone.py",),
    )

    assert [(each.path, each.is_changed) for each in packed.excerpts] == [
        ("new.py", True),
        ("same.py", False),
    ]
    assert packed.omitted == (Omitted("gone.py:1-2", DELETED),)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 40), st.integers(0, 15)), max_size=12),
    st.integers(0, 80),
)
def test_the_budget_holds_and_every_line_keeps_its_number(spans, budget):
    hits = [hit(path, start, start + length) for path, start, length in spans]

    packed = pack(hits, budget=budget, measure=lines_of)

    assert packed.tokens <= budget
    for each in packed.excerpts:
        assert isinstance(each, Excerpt)
        assert each.text == hit(each.path, each.start_line, each.end_line).chunk.text
    told = {
        (path, number)
        for path, start, end in [
            (*location_parts(each.location),) for each in (*packed.excerpts, *packed.omitted)
        ]
        for number in range(start, end + 1)
    }
    assert told == {
        (path, n) for path, start, length in spans for n in range(start, start + length + 1)
    }


def location_parts(location):
    path, _, lines = location.rpartition(":")
    start, _, end = lines.partition("-")
    return path, int(start), int(end)


@pytest.mark.parametrize("budget", [0, 1])
def test_no_budget_packs_nothing(budget):
    assert pack([hit("a.py", 1, 1)], budget=budget, measure=lines_of).excerpts == ()
