"""Tokens of a language model, counted."""

import subprocess
import sys

import pytest

from askcode.adapters.bpe_tokens import count_llm_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("def area(w, h):\n    return w * h\n", 12),
        ("naïve — 日本語", 6),
    ],
)
def test_tokens_are_those_of_the_o200k_vocabulary(text, tokens):
    assert count_llm_tokens(text) == tokens


def test_markers_of_chat_formats_in_source_are_plain_text():
    assert count_llm_tokens('END = "<|endoftext|><|im_start|>"') > 10


def test_half_a_surrogate_pair_counts_as_what_is_sent_for_it():
    assert count_llm_tokens("a\udce9b") == count_llm_tokens("a?b")


@pytest.mark.parametrize("text", ["word " * 300_000, "\x01\x02" * 130_000])
def test_no_text_is_too_long_to_count(text):
    assert 200_000 < count_llm_tokens(text) <= 300_100


def test_the_vocabulary_is_loaded_by_the_first_count_only():
    code = (
        "import sys, askcode.adapters.bpe_tokens as tokens\n"
        "assert 'bpe_openai' not in sys.modules\n"
        "assert tokens.count_llm_tokens('x') == 1"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
