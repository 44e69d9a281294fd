from dataclasses import dataclass, field, replace

import pytest

from askcode.answering import Answerer, sources_of, strict_failure
from askcode.asking import MAX_CHARACTERS, clean_question
from askcode.errors import ContextTooLong, LanguageModelError, UsageError
from askcode.prompting import Prompts, Turn
from askcode.records import (
    Answer,
    Chunk,
    Citation,
    Description,
    Hit,
    Prompt,
    Question,
    Reply,
    Retrieved,
    Usage,
)
from askcode.widening import Widened


@dataclass
class ScriptedModel:
    """Reply from a list; an exception in it is raised. Keep the prompts."""

    replies: list
    is_local: bool = True
    name: str = "scripted"
    prompts: list[Prompt] = field(default_factory=list)

    def complete(self, prompt):
        self.prompts.append(prompt)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(reply, Usage(1, 10, 5))

    def stream(self, prompt, *, on_text):
        reply = self.complete(prompt)
        for word in reply.text.split(" "):
            on_text(word)
        return reply


def hit(path, start, end):
    text = "\n".join(f"{path} {number}" for number in range(start, end + 1))
    return Hit(Chunk(path, start, end, text), Description(), "digest", 1.0)


HITS = (hit("src/a.py", 1, 10), hit("src/b.py", 5, 9), hit("src/a.py", 20, 30))
QUESTION = Question("how?", ("how?",))


def answerer(model=None, *, retrieved=None, **changes):
    found = Retrieved(HITS) if retrieved is None else retrieved
    return replace(
        Answerer(
            retrieve=lambda question: found,
            read_lines=lambda path: [f"{path} {number}" for number in range(1, 41)],
            prompts=Prompts(),
            count_tokens=lambda text: len(text.split()),
            model=model,
        ),
        **changes,
    )


def test_the_answer_is_streamed_checked_and_counted():
    model = ScriptedModel(["See `a.py:3` and [2], not c.py:1 or `frob`."])
    pieces = []

    answered = answerer(model).answer(QUESTION, on_text=pieces.append)

    answer = answered.answer
    assert " ".join(pieces) == "See `a.py:3` and [2], not c.py:1 or `frob`."
    assert answer.mode == "answer"
    assert answer.text == (
        "See `src/a.py:3-3` and [src/b.py:5-9], not c.py:1 [unverified] or `frob`."
    )
    assert [citation.valid for citation in answer.citations] == [True, True, False]
    assert answer.sources == ("src/a.py", "src/b.py")
    assert answer.usage == Usage(1, 10, 5)
    assert answer.unknown_identifiers == ("frob",)
    assert answered.prompt_tokens > 0
    assert set(answered.seconds) == {"search", "answer"}


def test_excerpts_are_sent_numbered_with_line_numbers_in_the_user_part_only():
    model = ScriptedModel(["fine"])

    answerer(model).answer(QUESTION)

    (prompt,) = model.prompts
    assert "[2] src/b.py:5-9" in prompt.user
    assert "7| src/b.py 7" in prompt.user
    assert "src/b.py" not in prompt.system
    assert "how?" in prompt.user


def test_without_a_model_the_excerpts_are_the_answer():
    answered = answerer().answer(QUESTION)

    assert answered.answer.mode == "excerpts"
    assert answered.answer.text is None
    assert answered.answer.sources == ("src/a.py", "src/b.py")


def test_nothing_found_makes_no_call():
    model = ScriptedModel([])

    answered = answerer(model, retrieved=Retrieved((), nearest=("x.py",))).answer(QUESTION)

    assert answered.answer.mode == "nothing_found"
    assert answered.answer.sources == ()
    assert model.prompts == []


def test_deleted_files_are_neither_sent_nor_sources():
    model = ScriptedModel(["fine"])
    found = Retrieved(HITS, stale=("src/a.py", "src/b.py"), deleted=("src/a.py",))

    answered = answerer(model, retrieved=found).answer(QUESTION)

    assert answered.answer.sources == ("src/b.py",)
    assert "src/a.py" not in model.prompts[0].user
    assert [excerpt.is_changed for excerpt in answered.packed.excerpts] == [True]


def test_when_all_files_are_gone_nothing_is_found():
    found = Retrieved(HITS[1:2], stale=("src/b.py",), deleted=("src/b.py",))

    answered = answerer(ScriptedModel([]), retrieved=found).answer(QUESTION)

    assert answered.answer.mode == "nothing_found"


def test_a_context_too_long_is_halved_and_tried_again():
    model = ScriptedModel([ContextTooLong("too long"), ContextTooLong("too long"), "fine"])

    answered = answerer(model, context_tokens=160).answer(QUESTION)

    sizes = [len(prompt.user.split()) for prompt in model.prompts]
    assert sizes[0] > sizes[1] > sizes[2]
    assert answered.warnings == (
        "the excerpts were cut to 40 tokens: the model's window is smaller",
    )


def test_a_context_that_never_fits_is_an_error_after_three_halvings():
    model = ScriptedModel([ContextTooLong("too long")] * 4)

    with pytest.raises(ContextTooLong, match=r"the context does not fit: \d+ tokens") as raised:
        answerer(model, context_tokens=400).answer(QUESTION)

    assert len(model.prompts) == 4
    assert raised.value.exit_code == 4


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_answer_is_an_error(text):
    with pytest.raises(LanguageModelError, match="empty answer") as raised:
        answerer(ScriptedModel([text])).answer(QUESTION)

    assert raised.value.exit_code == 4


def test_a_cut_answer_is_kept_with_a_warning():
    model = ScriptedModel([Reply("It loops", Usage(1, 1, 1), "length")])

    answered = answerer(model).answer(QUESTION)

    assert answered.answer.text == "It loops"
    assert "output tokens" in answered.warnings[0]


@pytest.mark.parametrize(("is_local", "sent"), [(True, True), (False, False)])
def test_secrets_stay_on_this_machine(is_local, sent):
    model = ScriptedModel(["fine"], is_local=is_local)

    answerer(model, mask=lambda text: text.replace("src/b.py 7", "****")).answer(QUESTION)

    assert ("7| src/b.py 7" in model.prompts[0].user) == sent


def test_a_masked_key_of_several_lines_moves_no_line():
    model = ScriptedModel(["fine"], is_local=False)
    key = "src/b.py 6\nsrc/b.py 7\nsrc/b.py 8"

    answerer(model, mask=lambda text: text.replace(key, "<masked>")).answer(QUESTION)

    assert "6| <masked>\n7| \n8| \n9| src/b.py 9" in model.prompts[0].user


def test_the_widened_searches_are_run_and_the_question_is_asked():
    model = ScriptedModel(["fine"])
    seen = []

    def retrieve(question):
        seen.append(question.searches)
        return Retrieved(HITS)

    answered = answerer(
        model,
        retrieve=retrieve,
        widen=lambda text: Widened((text, "what loops?"), Usage(1, 2, 3)),
    ).answer(QUESTION)

    assert seen == [("how?", "what loops?")]
    assert answered.answer.question.searches == ("how?", "what loops?")
    assert "what loops?" not in model.prompts[0].user
    assert answered.answer.usage == Usage(2, 12, 8)


def test_a_follow_up_is_rewritten_with_the_turns_that_fit():
    model = ScriptedModel(["How does Cache evict?"])
    turns = [Turn("old " * 3000, "old"), Turn("What is Cache?", "A store.")]

    rewritten = answerer(model).standalone("How does it evict?", turns)

    assert rewritten.text == "How does Cache evict?"
    assert "A store." in model.prompts[0].user
    assert "old old" not in model.prompts[0].user


@pytest.mark.parametrize("reply", ["", "It evicts.\nBy age.", " \n"])
def test_a_reply_that_is_no_question_leaves_the_follow_up(reply):
    turns = [Turn("What is Cache?", "A store.")]

    rewritten = answerer(ScriptedModel([reply])).standalone("How does it evict?", turns)

    assert rewritten.text == "How does it evict?"


def test_strict_wants_citations_and_all_of_them_to_hold():
    good, bad = Citation("a.py", 1, 2, True), Citation("a.py", 9, 9, False, "why")
    answer = Answer("answer", QUESTION, "text", (), (good,))

    assert strict_failure(answer) == ""
    assert strict_failure(replace(answer, citations=(good, bad))) == "1 of 2 citations verified"
    assert strict_failure(replace(answer, citations=())) == "the answer cites no lines"
    assert strict_failure(replace(answer, mode="nothing_found", citations=())) == ""


def test_sources_are_distinct_and_best_first():
    assert sources_of(Retrieved(HITS)) == ("src/a.py", "src/b.py")


@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\u200b\u200e", "\x00\x1b", "\u3000"])
def test_an_empty_question_is_wrong_use(text):
    with pytest.raises(UsageError, match="the question is empty"):
        clean_question(text)


@pytest.mark.parametrize("text", ["*", "\\", "AND OR NOT", "何?", "a:b", "🙂"])
def test_any_other_question_is_asked_as_it_is(text):
    assert clean_question(f"  {text}\n").text == text


def test_controls_and_halves_of_characters_are_taken_out_of_a_question():
    assert clean_question("a\x1b[2Jb\r\nc\udce9").text == "a [2Jb\nc\ufffd"


def test_the_middle_of_a_huge_question_is_cut_with_a_warning():
    clean = clean_question("start " + "x" * 100_000 + " end")

    assert len(clean.text) <= MAX_CHARACTERS + 10
    assert clean.text.startswith("start ") and clean.text.endswith(" end")
    assert "100,010 characters" in clean.warning
