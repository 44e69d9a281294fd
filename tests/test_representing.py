from __future__ import annotations

from askcode.records import Chunk, Description, Note, QuestionAnswer
from askcode.representing import passages, search_text

CHUNK = Chunk(
    "src/net/retry.py",
    10,
    11,
    "def wait_longer(self):\n    return self.delay * 2",
    language="python",
    symbol="Policy.wait_longer",
    signature="def wait_longer(self):",
    definitions=("Policy.wait_longer",),
)
ASKED = Description(
    questions=(QuestionAnswer("How long does it wait?", "Twice as long each time."),),
    notes=(Note("summary", "Exponential backoff."), Note("outline", "class Policy")),
)


def test_the_words_are_those_of_path_names_code_and_description():
    words = search_text(CHUNK, ASKED).split()

    assert {"net", "retry", "policy", "waitlonger", "longer", "delay"} <= set(words)
    assert {"twice", "exponential", "backoff"} <= set(words)
    assert "outline" not in words


def test_the_first_passage_carries_what_stands_around_the_chunk():
    assert passages(CHUNK, Description()) == [
        "src net retry py\nPolicy.wait_longer\ndef wait_longer(self):\n" + CHUNK.text
    ]


def test_a_long_chunk_is_embedded_in_pieces_too():
    text = "\n".join(f"line{i}" for i in range(30))
    long = Chunk("a.py", 1, 30, text)

    found = passages(long, Description())

    assert [passage.split("\n")[1] for passage in found] == ["line0", "line0", "line12", "line24"]
    assert all(passage.startswith("a py\n") for passage in found)


def test_each_answer_and_note_is_a_passage_of_its_own():
    assert passages(CHUNK, ASKED)[1:] == [
        "How long does it wait?\nTwice as long each time.",
        "Exponential backoff.",
    ]
