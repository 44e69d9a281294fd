from dataclasses import replace
from datetime import UTC, datetime, timedelta

from askcode.answered import Answered
from askcode.history import MAX_ENTRIES, History, make_entry, turns_of
from askcode.records import (
    Answer,
    Chunk,
    Citation,
    Description,
    Hit,
    Question,
    Retrieved,
    Usage,
)

START = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
ANSWER = Answer(
    "answer",
    Question("How does Cache evict?", ("How does Cache evict?", "what is evicted?")),
    "By age, `src/caf\udce9.py:3-4`.",
    ("src/caf\udce9.py",),
    (Citation("src/caf\udce9.py", 3, 4, True),),
    Retrieved((Hit(Chunk("src/caf\udce9.py", 1, 9, "text"), Description(), "digest", 0.5),)),
    Usage(2, 100, 20),
)


def entry(minute=0, *, conversation="one", question="How does it evict?"):
    answered = Answered(ANSWER, prompt_tokens=80, seconds={"search": 0.0123456})
    at = START + timedelta(minutes=minute)
    return make_entry(answered, question=question, conversation=conversation, at=at)


def test_an_entry_is_read_as_it_was_kept(tmp_path):
    history = History(tmp_path / "history")

    assert history.keep(entry())

    assert history.last(5) == [entry()]
    kept = history.last(1)[0]
    assert kept.question == "How does it evict?"
    assert kept.standalone == "How does Cache evict?"
    assert kept.subquestions == ("what is evicted?",)
    assert kept.asked_at == "2026-05-04T12:30:00.000000+00:00"
    assert kept.seconds == {"search": 0.012}
    assert (kept.prompt_tokens, kept.calls, kept.input_tokens) == (80, 2, 100)


def test_the_last_entries_come_oldest_first(tmp_path):
    history = History(tmp_path)
    for minute in (3, 1, 2):
        history.keep(entry(minute))

    assert [each.asked_at[14:16] for each in history.last(2)] == ["32", "33"]


def test_the_last_conversation_is_followed(tmp_path):
    history = History(tmp_path)
    for minute, conversation in enumerate(["old", "new", "old", "new"]):
        history.keep(entry(minute, conversation=conversation))

    turns = turns_of(history.conversation())

    assert [each.asked_at[14:16] for each in history.conversation()] == ["31", "33"]
    assert turns[0].question == "How does Cache evict?"
    assert turns[0].answer.startswith("By age")


def test_a_question_that_follows_nothing_begins_a_conversation():
    first, second = (make_entry(Answered(ANSWER), question="a") for _ in range(2))

    assert first.conversation != second.conversation


def test_old_entries_are_dropped(tmp_path):
    history = History(tmp_path)
    for minute in range(MAX_ENTRIES + 3):
        history.keep(entry(minute))

    kept = history.last(MAX_ENTRIES + 10)

    assert len(kept) == len(list(tmp_path.iterdir())) == MAX_ENTRIES
    assert kept[0].asked_at == "2026-05-04T12:33:00.000000+00:00"


def test_damaged_and_foreign_files_are_passed_over(tmp_path):
    history = History(tmp_path)
    history.keep(entry())
    for number, text in enumerate(['{"format": 1', "[]", '{"format": 9}', '{"format": 1}', "\x00"]):
        (tmp_path / f"9{number}.json").write_text(text)

    assert history.last(10) == [entry()]


def test_no_history_is_no_error(tmp_path):
    assert History(tmp_path / "none").last(3) == []
    assert History(tmp_path / "none").conversation() == []


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path):
    (tmp_path / "file").write_text("")

    assert not History(tmp_path / "file" / "history").keep(entry())


def test_an_answer_without_text_is_kept(tmp_path):
    history = History(tmp_path)
    excerpts = replace(ANSWER, mode="excerpts", text=None, citations=())

    history.keep(make_entry(Answered(excerpts), question="q", conversation="c", at=START))

    assert history.last(1)[0].answer is None
    assert turns_of(history.last(1))[0].answer == ""
