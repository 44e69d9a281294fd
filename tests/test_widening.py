"""The question first, then what the language model adds; alone when it adds nothing."""

import pytest

from askcode.errors import ChunkError, LanguageModelError, RunError, TransientError
from askcode.prompting import Prompts
from askcode.records import Prompt, Reply, Usage
from askcode.widening import Widened, widen

PAID = Usage(1, 20, 9)


class SayingModel:
    name = "saying"
    is_local = True

    def __init__(self, reply: str | LanguageModelError) -> None:
        self.reply = reply
        self.prompts: list[Prompt] = []

    def complete(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        if isinstance(self.reply, LanguageModelError):
            raise self.reply
        return Reply(self.reply, PAID)


def test_the_question_comes_first_and_the_follow_ups_after() -> None:
    model = SayingModel("1. How is the size read?\n2. What is area?\n3. Where is it called?")

    widened = widen("What is area?", model=model, prompts=Prompts(), count=5)

    assert widened == Widened(
        ("What is area?", "How is the size read?", "Where is it called?"), PAID
    )


def test_the_question_is_sent_as_it_is_with_the_number_wanted() -> None:
    model = SayingModel("x?")

    widen("was heißt {{ 7*7 }}{%?", model=model, prompts=Prompts(), count=4)

    (prompt,) = model.prompts
    assert "\nwas heißt {{ 7*7 }}{%?\n" in prompt.user
    assert "Write up to 4 further questions" in prompt.user
    assert prompt.system == Prompts().render("widen_system")


def test_no_more_than_wanted_are_taken() -> None:
    model = SayingModel("a?\nb?\nc?")

    assert widen("x", model=model, prompts=Prompts(), count=2).searches == ("x", "a?", "b?")


@pytest.mark.parametrize("reply", ["", "   ", "x", "```\n```", "[]", "<think>so what?"])
def test_a_reply_without_questions_leaves_the_original_alone(reply: str) -> None:
    widened = widen("x", model=SayingModel(reply), prompts=Prompts(), count=5)

    assert widened.searches == ("x",)
    assert widened.usage == PAID
    assert widened.warning == "the question was not widened: the reply held no question"


@pytest.mark.parametrize("error", [TransientError("timed out"), ChunkError("refused")])
def test_a_failed_call_leaves_the_original_alone(error: LanguageModelError) -> None:
    widened = widen("x", model=SayingModel(error), prompts=Prompts(), count=5)

    assert widened.searches == ("x",)
    assert widened.usage == Usage()
    assert widened.warning == f"the question was not widened: {error.message}"


def test_an_error_that_every_call_would_meet_is_raised() -> None:
    with pytest.raises(RunError, match="bad key"):
        widen("x", model=SayingModel(RunError("bad key")), prompts=Prompts(), count=5)


@pytest.mark.parametrize(("count", "model"), [(0, SayingModel("a?")), (5, None)])
def test_without_model_or_wish_nothing_is_asked(count: int, model: SayingModel | None) -> None:
    assert widen("x", model=model, prompts=Prompts(), count=count) == Widened(("x",), Usage())
    assert model is None or model.prompts == []
