"""Chunks of files in many languages: spans, symbols, sizes, and what holds for all of them."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askcode.chunking import Chunker, outline
from askcode.languages import language_of
from askcode.records import SourceFile, digest_text

FIXTURES = Path(__file__).parent / "fixtures" / "chunking"
LANGUAGES = sorted(path.name for path in FIXTURES.iterdir())
MAX_TOKENS = 80


def count_words(texts):
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def source_file(path, text, language=None):
    language = language or language_of(path, text.split("\n", 1)[0])
    return SourceFile(path, text, language, digest_text(text))


def chunk(path, text, *, max_tokens=MAX_TOKENS, language=None):
    chunker = Chunker(count_tokens=count_words, max_tokens=max_tokens)
    return chunker.chunk(source_file(path, text, language))


def fixture(language):
    (path,) = (one for one in (FIXTURES / language).iterdir() if one.name != "expected.txt")
    return path.name, path.read_text(encoding="utf-8")


def described(chunks):
    return "".join(
        f"{one.start_line}-{one.end_line} {one.kind} {one.symbol or '-'} | "
        f"{one.signature or '-'} | {', '.join(one.definitions) or '-'}\n"
        for one in chunks
    )


def spans(chunks):
    return [(one.start_line, one.end_line, one.symbol) for one in chunks]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_fixture_is_cut_as_written_down(language):
    path, text = fixture(language)

    chunks = chunk(path, text)

    assert described(chunks) == (FIXTURES / language / "expected.txt").read_text(encoding="utf-8")
    assert source_file(path, text).language == language


def assert_partition(text, chunks, *, max_tokens):
    """Every non-blank line is in exactly one chunk, whose text is its lines."""
    lines = text.split("\n")
    covered = []
    for one in chunks:
        own = lines[one.start_line - 1 : one.end_line]
        assert one.text == "\n".join(own)
        assert own[0].strip()
        assert own[-1].strip()
        assert len(own) == 1 or sum(count_words(own)) <= max_tokens
        covered += range(one.start_line, one.end_line + 1)
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)


CODE = [language for language in LANGUAGES if language != "notebook"]


@pytest.mark.parametrize("max_tokens", [1, 10, 40, 1000])
@pytest.mark.parametrize("language", CODE)
def test_every_line_is_in_one_chunk(language, max_tokens):
    path, text = fixture(language)

    chunks = chunk(path, text, max_tokens=max_tokens)

    assert_partition(text, chunks, max_tokens=max_tokens)
    assert chunks == chunk(path, text, max_tokens=max_tokens)


def mutated(text, seed):
    """Return a text with lines dropped, doubled and cut, and marks put in."""
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(lines))
        line = lines[place]
        changed = ["", line[: len(line) // 2], f"{line}\n{line}", line + "}", line + "\x0c\u2028"]
        changed += [mark + line for mark in ("(", "\t", '"', "日本🙂", "\ud800", "'''")]
        lines[place] = chance.choice(changed)
        lines = "\n".join(lines).split("\n")
    return "\n".join(lines)


@pytest.mark.parametrize("language", CODE)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), max_tokens=st.sampled_from([5, 30, 80]))
def test_broken_sources_are_covered_as_well(language, seed, max_tokens):
    path, text = fixture(language)
    text = mutated(text, seed)

    chunks = chunk(path, text, max_tokens=max_tokens, language=language)

    assert_partition(text, chunks, max_tokens=max_tokens)


@pytest.mark.parametrize("language", ["python", "lua", "javascript", "markdown", "rst", "haskell"])
@settings(max_examples=30, deadline=None)
@given(
    text=st.text(
        st.sampled_from("ab{}()[]#=-'\"\n \t:;,.<>/*\\é🙂\u2028\x0b\x1c\x85") | st.characters(),
        max_size=200,
    )
)
def test_noise_is_covered_as_well(language, text):
    chunks = chunk("noise", text, max_tokens=10, language=language)

    assert_partition(text, chunks, max_tokens=10)


def test_nothing_comes_of_blank_files():
    assert chunk("a.py", "") == []
    assert chunk("a.py", "\n \n\t\n") == []


def test_leading_comments_and_decorators_belong_to_the_definition():
    filler = "def other():\n" + "    call(1, 2, 3)\n" * 8
    text = (
        filler
        + '\n# limit is 7 per minute\n@app.route("/pay")\n@limit(7)\n'
        + ("def pay():\n" + "    call(1, 2, 3)\n" * 6)
    )

    chunks = chunk("v.py", text)

    assert spans(chunks) == [(1, 9, "other"), (11, 20, "pay")]


def test_a_licence_is_no_part_of_the_first_definition():
    text = "# Licensed to all,\n# for any use, of old or of late.\n\ndef f():\n    return 1\n"

    assert spans(chunk("l.py", text)) == [(1, 2, None), (4, 5, "f")]


def test_bytes_and_characters_are_not_mixed_up():
    text = "# " + "日本語🙂é" * 50 + "\n\ndef after():\n    return 1\n"

    chunks = chunk("mb.py", text, max_tokens=12)

    assert spans(chunks) == [(1, 1, None), (3, 4, "after")]
    assert chunks[1].text == "def after():\n    return 1"


def test_line_numbers_count_line_feeds_only():
    text = "\n" * 50 + "x = '\x0c\u2028\x85'\n\n\ndef fifty_four():\n    return 1"

    chunks = chunk("l.py", text, max_tokens=9)

    assert spans(chunks) == [(51, 51, None), (54, 55, "fifty_four")]


def test_deep_nesting_is_survived():
    depth = 5_000
    text = "x = " + "(" * depth + "1" + ")" * depth + "\n\ndef after_deep():\n    return 1\n"

    chunks = chunk("deep.py", text)

    assert spans(chunks) == [(1, 1, None), (3, 4, "after_deep")]


@pytest.mark.parametrize("path", ["deep.json", "deep.js", "deep.py", "deep.yaml", "deep.ipynb"])
def test_a_hundred_thousand_brackets_are_one_line(path):
    text = "[" * 100_000 + "]" * 100_000

    assert spans(chunk(path, text)) == [(1, 1, None)]


def test_deeply_nested_definitions_keep_to_their_lines():
    text = "\n".join(f"{' ' * level}class C{level}:" for level in range(300))

    chunks = chunk("deep.py", text)

    assert_partition(text, chunks, max_tokens=MAX_TOKENS)


BROKEN = {
    "b.py": "def broken(:\n    return (\n\n\ndef fine():\n    return 2\n",
    "b.js": "function broken( {\n  if (x {\n\nfunction fine() {\n  return 2;\n}\n",
    "b.go": "package a\nfunc broken( {\n if x {\n\nfunc fine() int {\n return 2\n}\n",
    "b.c": "int broken(int a {\n  if (x {\n\nint fine(void)\n{\n  return 2;\n}\n",
    "b.rs": "fn broken( {\n  if x {\n\nfn fine() -> u8 {\n  2\n}\n",
    "b.rb": "def broken(\n  if x\n\ndef fine\n  2\nend\n",
    "b.java": "class A { void broken( { if (x {\n\nclass fine {\n  int x;\n}\n",
}


@pytest.mark.parametrize("path", BROKEN)
def test_what_follows_a_syntax_error_is_a_definition_of_its_own(path):
    text = BROKEN[path]
    start = text[: text.index("\n\n")].count("\n") + 2
    while not text.split("\n")[start - 1].strip():
        start += 1

    chunks = chunk(path, text, max_tokens=14)

    assert chunks[-1].symbol == "fine"
    assert chunks[-1].start_line == start


def test_old_syntax_keeps_its_functions():
    text = 'def p():\n    print "old"\n\n\ndef q():\n    exec "x" in {}\n'

    assert [name for one in chunk("p2.py", text) for name in one.definitions] == ["p", "q"]


def test_many_small_functions_share_chunks():
    text = "".join(f"def f{number}(): return {number}\n" for number in range(2_000))

    chunks = chunk("many.py", text, max_tokens=280)

    assert len(chunks) == 50
    assert all(len(one.definitions) == 40 for one in chunks)


def test_a_giant_function_is_cut_into_equal_pieces_under_its_name():
    body = "".join(f"    a = a + {number}  # step\n" for number in range(400))
    text = f"def long_fn(a):\n{body}    launch_the_zeppelin(a)\n"

    chunks = chunk("l.py", text, max_tokens=300)

    assert {one.symbol for one in chunks} == {"long_fn"}
    assert {one.signature for one in chunks} == {"def long_fn(a)"}
    assert [one.definitions for one in chunks] == [("long_fn",)] + [()] * (len(chunks) - 1)
    sizes = [sum(count_words([one.text])) for one in chunks]
    assert min(sizes) > 0.6 * max(sizes)
    assert "zeppelin" in chunks[-1].text


def test_a_giant_function_is_cut_at_blank_lines():
    block = "    if x:\n        y = call(1, 2)\n        z = call(y, 3)\n"
    text = "def f(x):\n" + "\n".join([block] * 6)

    chunks = chunk("f.py", text, max_tokens=50)

    assert [one.text.split("\n")[0].strip() for one in chunks[1:]] == ["if x:"] * (len(chunks) - 1)


def test_the_tokens_of_a_file_are_counted_in_one_call():
    calls = []

    def count(texts):
        calls.append(list(texts))
        return count_words(texts)

    Chunker(count_tokens=count, max_tokens=20).chunk(source_file("a.py", "x = 1\n\ny = 2\n"))

    assert calls == [["x = 1", "y = 2"]]


def test_headers_in_cpp_are_read_as_cpp():
    text = "#pragma once\nnamespace a {\nclass B {\n public:\n  int c() { return 1; }\n};\n}\n"

    (only,) = chunk("b.h", text)

    assert only.language == "c"
    assert only.definitions == ("a", "a.B", "a.B.c")


def test_a_macro_before_a_class_is_no_part_of_its_name():
    text = "EXPORT_API class Reader // why\n{\n  int a() { return 1; }\n};\n"

    (only,) = chunk("a.cpp", text)

    assert only.definitions[0] == "Reader"


def test_a_grammar_that_never_ends_is_not_asked():
    assert spans(chunk("x.lua", "x\n")) == [(1, 1, None)]


def test_files_without_grammar_are_cut_by_paragraphs():
    text = "\n\n".join(f"Paragraph {number} has\nsix words or so." for number in range(4))

    chunks = chunk("a.unknown", text, max_tokens=18)

    assert spans(chunks) == [(1, 5, None), (7, 11, None)]
    assert {one.kind for one in chunks} == {"text"}


def test_the_outline_names_each_definition_with_its_line():
    text = "class A(B):\n    # why\n    def f(self, x: int) -> int:\n        pass\n\ndef g(): 0"

    assert outline(source_file("a.py", text)) == (
        "class A(B)  (line 1)\n  def f(self, x: int) -> int  (line 3)\ndef g()  (line 6)"
    )


def test_the_outline_of_text_is_empty():
    assert outline(source_file("a.txt", "words\n")) == ""
