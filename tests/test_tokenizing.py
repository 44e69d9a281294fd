from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.tokenizing import code_tokens, query_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("max_bytes", ["maxbytes", "max", "bytes"]),
        ("maxBytes", ["maxbytes", "max", "bytes"]),
        ("max-bytes", ["maxbytes", "max", "bytes"]),
        ("MAX_BYTES", ["maxbytes", "max", "bytes"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("parseURLs", ["parseurls", "parse", "urls"]),
        ("IPv6Address", ["ipv6address", "ipv6", "ipv", "6", "address"]),
        ("base64Encoder", ["base64encoder", "base64", "base", "64", "encoder"]),
        ("IFile", ["ifile", "file"]),
        ("__init__", ["init"]),
        ("x", ["x"]),
        ("i-1", ["i", "1"]),
        ("self.total += 2", ["self", "total", "2"]),
        ("___ -- !!", []),
        ("", []),
    ],
)
def test_identifiers_are_given_whole_and_in_parts(text: str, tokens: list[str]) -> None:
    assert code_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("größeÄndern", ["grösseändern", "grösse", "ändern"]),
        ("привет_мир", ["приветмир", "привет", "мир"]),
        ("हिन्दी", ["हिन्दी"]),
        ("cafe\u0301", ["café"]),
        ("上传文件", ["上传", "传文", "文件"]),
        ("图", ["图"]),
        ("解析config文件", ["解析", "config", "文件"]),
        ("ｆｕｌｌ", ["full"]),
    ],
)
def test_other_scripts_keep_their_words(text: str, tokens: list[str]) -> None:
    assert code_tokens(text) == tokens


def test_words_of_the_question_form_are_left_out() -> None:
    assert query_tokens("How does the retry logic work?") == ["retry", "logic"]


def test_a_question_of_stop_words_alone_keeps_them() -> None:
    assert query_tokens("what is it") == ["what", "is", "it"]


@given(st.text(max_size=60))
def test_tokens_are_folded_and_without_blanks(text: str) -> None:
    for token in code_tokens(text):
        assert token and token.split() == [token]
        assert "_" not in token and token == token.casefold()


@given(st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=4))
def test_every_naming_convention_gives_the_same_tokens(words: list[str]) -> None:
    camel = words[0] + "".join(word.title() for word in words[1:])
    expected = code_tokens("_".join(words))

    assert code_tokens(camel) == expected
    assert code_tokens("-".join(words)) == expected
    assert code_tokens("_".join(words).upper()) == expected
