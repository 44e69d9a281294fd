"""What every Store does, whatever it keeps its rows in."""

import numpy as np
import pytest

from askcode.records import (
    Chunk,
    Description,
    Filters,
    IndexedFile,
    Note,
    QuestionAnswer,
    Row,
)

ALL = Filters()
ODD_PATHS = (
    "it's dir/don't.py",
    "' OR 1=1 --.py",
    "') OR path LIKE '%",
    'd"q.py',
    "100%_done.py",
    "back\\slash.py",
    "new\nline.py",
    "tab\tand space .py",
    "日本語/файл.py",
    "e\u0301.py",
    "\udcff\udc80.py",
    "caf\udce9/x.py",
    "\U0010ffff.py",
    "[id]/{a}/$(x)/*?.py",
    "-rf.py",
    "; DROP TABLE chunks",
)


def vectors(*rows):
    return np.array(rows, np.float32)


EAST, NORTH, UP = vectors([1, 0, 0, 0]), vectors([0, 1, 0, 0]), vectors([0, 0, 1, 0])


def make_row(path, *, line=1, text="text", words="word", digest="d1", vector=EAST, **more):
    description = more.pop("description", Description())
    chunk = Chunk(path, line, line + 1, text, more.pop("language", "python"), **more)
    return Row(chunk, description, digest, words, vector)


def put(store, *rows):
    by_path = {}
    for row in rows:
        by_path.setdefault(row.chunk.path, []).append(row)
    store.replace(by_path)


def paths(candidates):
    return [candidate.chunk.path for candidate in candidates]


class StoreContract:
    """Subclass with a fixture `store`: an empty one for vectors of four numbers."""

    def test_an_empty_store_holds_and_finds_nothing(self, store):
        assert store.files() == {}
        assert store.nearest(EAST, k=5, filters=ALL) == []
        assert store.matching(["word"], k=5, filters=ALL) == []

    def test_a_row_comes_back_whole(self, store):
        description = Description(
            (QuestionAnswer("why?", "because"),), (Note("summary", "it sums"),)
        )
        row = make_row(
            "a.py",
            line=7,
            text="def f():\n    return 1\n",
            description=description,
            kind="code",
            symbol="A.f",
            signature="def f():",
            definitions=("A.f", "A.g"),
        )
        put(store, row)

        (found,) = store.nearest(EAST, k=5, filters=ALL)

        assert (found.chunk, found.description, found.file_digest) == (
            row.chunk,
            description,
            "d1",
        )
        assert found.score == pytest.approx(1, abs=1e-3)

    def test_what_is_not_known_of_a_chunk_stays_unknown(self, store):
        row = make_row("a.txt", language=None)
        put(store, row)

        assert [one.chunk for one in store.matching(["word"], k=5, filters=ALL)] == [row.chunk]

    def test_files_sums_the_rows_of_each_file_up(self, store):
        asked = Description((QuestionAnswer("q", "a"), QuestionAnswer("r", "b")))
        both = Description(asked.questions, (Note("summary", "s"),))
        put(
            store,
            make_row("a.py", description=asked),
            make_row("a.py", line=3, description=both),
            make_row("b.go", digest="d2", language="go"),
        )

        assert store.files() == {
            "a.py": IndexedFile(
                "a.py", "d1", "python", 2, ("questions",), 4, ("questions", "summary")
            ),
            "b.go": IndexedFile("b.go", "d2", "go", 1, (), 0),
        }

    def test_new_rows_take_the_place_of_all_old_ones(self, store):
        put(store, *(make_row("a.py", line=line, words="old") for line in (1, 3, 5)))
        put(store, make_row("b.py", words="other"))

        put(store, make_row("a.py", line=2, words="new", digest="d2"))

        assert store.files()["a.py"].chunks == 1
        assert store.files()["a.py"].digest == "d2"
        assert store.matching(["old"], k=5, filters=ALL) == []
        assert paths(store.matching(["new", "other"], k=5, filters=ALL)) == ["a.py", "b.py"]

    def test_removed_files_go_in_the_same_step(self, store):
        put(store, make_row("a.py", words="gone"), make_row("b.py", words="gone"))

        store.replace({"c.py": [make_row("c.py")]}, removed=["a.py", "never-there.py"])
        store.replace({}, removed=["b.py"])

        assert list(store.files()) == ["c.py"]
        assert store.matching(["gone"], k=5, filters=ALL) == []

    def test_a_file_without_rows_is_removed(self, store):
        put(store, make_row("a.py"), make_row("b.py"))

        store.replace({"a.py": []})

        assert list(store.files()) == ["b.py"]

    def test_equal_content_in_two_files_is_two_rows(self, store):
        put(store, make_row("a.py"), make_row("b.py"))

        assert paths(store.nearest(EAST, k=5, filters=ALL)) == ["a.py", "b.py"]

    @pytest.mark.parametrize("odd", ODD_PATHS)
    def test_any_path_is_stored_filtered_and_removed_exactly(self, store, odd):
        put(store, make_row(odd), make_row("plain.py"), make_row("100x_done.py"))
        escaped = "".join(f"\\{letter}" if letter in "*?[\\" else letter for letter in odd)
        exactly = Filters(path_globs=(f"/{escaped}",))

        assert set(store.files()) == {odd, "plain.py", "100x_done.py"}
        assert paths(store.nearest(EAST, k=5, filters=exactly)) == [odd]
        assert paths(store.matching(["word"], k=5, filters=exactly)) == [odd]

        put(store, make_row(odd, digest="d2"))
        assert store.files()[odd].digest == "d2"

        store.replace({}, removed=[odd])
        assert set(store.files()) == {"plain.py", "100x_done.py"}

    def test_a_text_with_half_a_surrogate_pair_is_stored(self, store):
        put(store, make_row("a.py", text="x = '\ud800'", symbol="\udfff", words="w\ud800"))

        (found,) = store.nearest(EAST, k=1, filters=ALL)

        assert found.chunk.text.startswith("x = '")

    def test_nearest_takes_the_best_of_a_rows_vectors(self, store):
        put(store, make_row("a.py", vector=vectors([0, 1, 0, 0], [0.6, 0.8, 0, 0])))
        put(store, make_row("b.py", vector=vectors([0.8, 0.6, 0, 0])))

        found = store.nearest(NORTH, k=5, filters=ALL)

        assert paths(found) == ["a.py", "b.py"]
        assert [one.score for one in found] == pytest.approx([1, 0.6], abs=1e-3)

    def test_a_query_of_zeros_is_similar_to_nothing(self, store):
        put(store, make_row("a.py"))

        assert store.nearest(vectors([0, 0, 0, 0]), k=5, filters=ALL) == []

    def test_a_vector_of_zeros_hides_neither_its_row_nor_others(self, store):
        put(store, make_row("a.py", vector=vectors([0, 0, 0, 0], [1, 0, 0, 0])))
        put(store, make_row("b.py", vector=vectors([0, 0, 0, 0]), words="unknown"))

        assert paths(store.nearest(EAST, k=1, filters=ALL)) == ["a.py"]
        assert paths(store.matching(["unknown"], k=5, filters=ALL)) == ["b.py"]

    def test_no_more_than_k_are_returned_best_first(self, store):
        put(store, *(make_row(f"{n}.py", words="word " * n + "x " * (9 - n)) for n in range(1, 9)))

        found = store.matching(["word"], k=3, filters=ALL)

        assert paths(found) == ["8.py", "7.py", "6.py"]
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)

    def test_the_rows_that_a_search_would_look_at_are_counted(self, store):
        put(
            store, *(make_row(path, line=line) for path in ("a/it's.py", "b.py") for line in (1, 9))
        )
        put(store, make_row("a/x.js", language="javascript"))

        assert store.count(ALL) == 5
        assert store.count(Filters(path_globs=("a/**",))) == 3
        assert store.count(Filters(languages=("javascript",))) == 1
        assert store.count(Filters(path_globs=("none/**",))) == 0

    def test_matching_wants_any_of_the_tokens(self, store):
        put(store, make_row("a.py", words="alpha common"), make_row("b.py", words="beta common"))

        assert paths(store.matching(["alpha", "zeta"], k=5, filters=ALL)) == ["a.py"]
        assert set(paths(store.matching(["alpha", "beta"], k=5, filters=ALL))) == {"a.py", "b.py"}

    def test_a_token_counts_once_however_often_it_is_given(self, store):
        put(store, make_row("a.py", words="alpha"), make_row("b.py", words="beta"))

        once = store.matching(["alpha"], k=5, filters=ALL)

        assert store.matching(["alpha"] * 50, k=5, filters=ALL) == once

    @pytest.mark.parametrize(
        "tokens", [[], ["+a", "-b"], ['"'], ["*"], ["a:b"], ["AND", "OR", "NOT"], ["\\", "("]]
    )
    def test_tokens_are_no_query_language(self, store, tokens):
        put(store, make_row("a.py", words="alpha and or not b a"))

        assert store.matching(tokens, k=5, filters=ALL) == []

    @pytest.mark.parametrize("word", ["x" * 300, "the", "running", "naïve", "日本語", "a_b.c"])
    def test_words_are_found_as_they_are(self, store, word):
        put(store, make_row("a.py", words=f"foo {word} bar"), make_row("b.py", words="run naive"))

        assert paths(store.matching([word], k=5, filters=ALL)) == ["a.py"]

    def test_filters_work_before_the_search(self, store):
        near = [make_row(f"near/{n}.py", words="word word") for n in range(50)]
        far = make_row("far/x.go", vector=NORTH, words="word x x x", language="Go")
        put(store, *near, far)

        for filters in (
            Filters(path_globs=("far/",)),
            Filters(path_globs=("*.go",)),
            Filters(languages=("go",)),
            Filters(path_globs=("!near",)),
        ):
            assert paths(store.nearest(EAST, k=1, filters=filters)) == ["far/x.go"]
            assert paths(store.matching(["word"], k=1, filters=filters)) == ["far/x.go"]

    @pytest.mark.parametrize(
        ("names", "globs", "expected"),
        [
            (("shop",), (), {"shop:tests/a.py", "shop:a:b/c.py"}),
            (("*shop",), ("tests/",), {"shop:tests/a.py", "b-shop:tests/a.py"}),
            (("!shop",), (), {"b-shop:tests/a.py", "tools:c.py"}),
            (("s?op", "tools"), ("!c.py",), {"shop:tests/a.py"}),
            (("*b",), (), set()),
            (("*",), ("/c.py",), {"tools:c.py"}),
        ],
    )
    def test_names_of_repositories_are_filtered_apart_from_their_paths(
        self, store, names, globs, expected
    ):
        found = ("shop:tests/a.py", "shop:a:b/c.py", "b-shop:tests/a.py", "tools:c.py")
        put(store, *(make_row(path) for path in found))

        filters = Filters(path_globs=globs, repositories=names)

        assert set(paths(store.nearest(EAST, k=9, filters=filters))) == expected
        assert set(paths(store.matching(["word"], k=9, filters=filters))) == expected

    def test_all_holds_after_finish_too(self, store):
        put(store, make_row("a.py", words="alpha"), make_row("b.py", words="beta"))
        assert store.finish() == []

        put(store, make_row("a.py", words="gamma", vector=UP))

        assert paths(store.matching(["alpha"], k=5, filters=ALL)) == []
        assert paths(store.matching(["gamma"], k=5, filters=ALL)) == ["a.py"]
        assert store.finish() == []
        assert paths(store.matching(["gamma", "beta"], k=5, filters=ALL)) == ["a.py", "b.py"]
        assert paths(store.nearest(UP, k=1, filters=ALL)) == ["a.py"]
