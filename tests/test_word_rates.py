from __future__ import annotations

import pytest

from askcode.training.pairs import DOC, Pair, write_pairs
from askcode.training.word_rates import PER_PACKAGE, count_rates, spread_over, write_rates
from askcode.word_rates import LEAST, UNIT, rate, root


def pair(code, *, text="", path="a.py", package="p"):
    return Pair(text, code, DOC, "python", package, path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("queries", "query"),
        ("stored", "store"),
        ("routing", "routes"),
        ("computed", "compute"),
        ("sessions", "session"),
    ],
)
def test_forms_of_a_word_share_a_root(one, other):
    shared = root(one)

    assert one.startswith(shared)
    assert other.startswith(shared)
    assert root(other) == shared


def test_short_words_and_other_scripts_stay_as_they_are():
    assert [root(word) for word in ("as", "ios", "関数", "возвращает")] == [
        "as",
        "ios",
        "関数",
        "возвращает",
    ]


def test_common_words_are_common_and_rare_ones_are_not():
    assert rate(root("value")) > 0.1 > rate(root("session")) > LEAST
    assert rate(root("quuxotron")) == 0.0


def test_a_word_is_counted_once_in_a_definition_by_its_root():
    counts = count_rates([pair("value value values"), pair("x", text="a session"), pair("y")] * 2)

    assert counts["valu"] == round(UNIT / 3)
    assert counts["session"] == round(UNIT / 3)


def test_words_too_rare_to_matter_and_numbers_are_left_out():
    pairs = [pair("usual 2024")] * 9999 + [pair("unique")]

    assert count_rates(pairs).keys() == {"usual", "a", "py"}


def test_a_large_package_counts_no_more_than_its_part():
    many = [pair(str(place)) for place in range(1000)]

    chosen = list(spread_over(many))

    assert len(chosen) == PER_PACKAGE
    assert (chosen[0].code, int(chosen[-1].code) > 980) == ("0", True)
    assert list(spread_over(many[:3])) == many[:3]


def test_the_list_is_written_from_mined_packages(tmp_path):
    for name in ("b", "a"):
        write_pairs(tmp_path / f"{name}.jsonl.gz", [pair("blueprint", path="x/y.py")])

    write_rates(sorted(tmp_path.glob("*.gz")), tmp_path / "rates.tsv")

    rows = (tmp_path / "rates.tsv").read_text("utf-8").splitlines()
    assert f"blueprint\t{UNIT}" in rows
    assert rows == sorted(rows)
