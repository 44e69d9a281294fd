from __future__ import annotations

import pytest

from askcode.adapters.lance_store import create_store
from askcode.errors import IndexEmpty
from askcode.records import Filters, Question, digest_text
from askcode.retrieving import Retriever
from tests.fakes import HashEmbedder, MemoryStore
from tests.ranking import chunk, row

FILES = {
    "src/retry.py": "def retry(call):\n    wait longer each time\n    backoff twice",
    "src/session.py": "class Session:\n    open a session\n    close the session",
    "tests/test_retry.py": "def test_retry():\n    wait longer each time\n    assert backoff",
    "web/app.js": "function render(page) {\n  draw the page\n}",
}
LANGUAGES = {".py": "python", ".js": "javascript"}


@pytest.fixture
def root(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.fixture
def retriever(root):
    store, embedder = MemoryStore(), HashEmbedder(256)
    for path, text in FILES.items():
        language = LANGUAGES[path[path.rindex(".") :]]
        names = [text.split("(")[0].split(":")[0].split()[-1]]
        found = chunk(path, text, definitions=names, language=language)
        store.replace({path: [row(found, embedder, file_digest=digest_text(text))]})
    return Retriever(root, store, embedder, max_file_bytes=1000)


def paths(retrieved):
    return [hit.chunk.path for hit in retrieved.hits]


NO_FILTERS = Filters()


def ask(text, *more, filters=NO_FILTERS):
    return Question(text, (text, *more), filters)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
def test_each_mode_finds_the_source_first(retriever, mode):
    assert paths(retriever.retrieve(ask("wait longer backoff"), k=2, mode=mode)) == [
        "src/retry.py",
        "tests/test_retry.py",
    ]


def test_a_mode_alone_has_no_ranks_of_the_other(retriever):
    (hit,) = retriever.retrieve(ask("session"), k=1, mode="text").hits

    assert (hit.vector_rank, hit.text_rank) == (None, 1)


def test_filters_limit_the_search(retriever):
    only = Filters(path_globs=("tests/**",))

    assert paths(retriever.retrieve(ask("session", filters=only), k=5)) == ["tests/test_retry.py"]
    assert paths(
        retriever.retrieve(ask("session", filters=Filters(languages=("javascript",))), k=5)
    ) == ["web/app.js"]


def test_subquestions_add_what_they_find(retriever):
    found = retriever.retrieve(ask("wait longer backoff", "draw the page"), k=4, mode="text")

    assert "web/app.js" in paths(found)
    assert paths(found)[0] == "src/retry.py"


def test_a_stack_trace_leads_to_its_line(retriever):
    trace = "boom\n    at draw (/home/me/x/web/app.js:2:3)\nwhy? session session"

    found = retriever.retrieve(ask(trace), k=3)

    assert paths(found)[0] == "web/app.js"
    assert found.hits[0].shares.keys() == {"trace"}
    assert paths(retriever.retrieve(ask("at a.js:900"), k=1)) != []


def test_a_stack_trace_stays_within_the_filters(retriever):
    only = Filters(path_globs=("src/**",))

    found = retriever.retrieve(ask("at web/app.js:2 session", filters=only), k=4)

    assert found.hits
    assert set(paths(found)) <= {"src/retry.py", "src/session.py"}


def test_changed_and_deleted_files_are_told(retriever, root):
    (root / "src/retry.py").write_text("changed")
    (root / "tests/test_retry.py").unlink()

    found = retriever.retrieve(ask("wait longer backoff"), k=2)

    assert found.stale == ("src/retry.py", "tests/test_retry.py")
    assert found.deleted == ("tests/test_retry.py",)


def test_an_empty_index_says_so(root):
    empty = Retriever(root, MemoryStore(), HashEmbedder(), max_file_bytes=1000)

    with pytest.raises(IndexEmpty):
        empty.retrieve(ask("anything"), k=1)


def test_a_question_about_something_else_finds_nothing(retriever):
    found = retriever.retrieve_relevant(ask("kubernetes helm ingress certificate issuer"), k=3)

    assert found.hits == ()
    assert found.nearest != ()


def test_a_known_name_is_enough_in_any_language(retriever):
    for question in ("Warum blockiert `Session` manchmal?", "為什麼 render() 會失敗", "retry"):
        assert retriever.retrieve_relevant(ask(question), k=3).hits != ()


def test_relevance_lies_between_zero_and_one(retriever):
    for text in ("wait longer backoff", "session", "zzz", "app.js:1"):
        for hit in retriever.retrieve(ask(text), k=4).hits:
            assert 0.0 <= hit.relevance <= 1.0


def test_a_filter_reaches_what_lies_beyond_the_first_thousand_hits(tmp_path):
    embedder = HashEmbedder(16)
    store = create_store(tmp_path / "index", table="chunks", dim=16)
    best = [chunk("src/many.py", "session " * 3, start=line) for line in range(1, 1201)]
    last = chunk("lib/one.rb", "a session among many other words of quite another kind")
    store.replace({"src/many.py": [row(one, embedder) for one in best]})
    store.replace({"lib/one.rb": [row(last, embedder)]})
    retriever = Retriever(tmp_path, store, embedder, max_file_bytes=1000)

    only = Filters(path_globs=("lib/**",))

    for mode in ("hybrid", "vector", "text"):
        assert paths(retriever.retrieve(ask("session", filters=only), k=5, mode=mode)) == [
            "lib/one.rb"
        ]
