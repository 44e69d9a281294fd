"""Ask questions whose answers are known, and score what is found and what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from askcode.answered import Answered
from askcode.errors import LanguageModelError, RunError
from askcode.eval_questions import EvalQuestion
from askcode.records import Answer, Retrieved, Usage
from askcode.scoring import Score, mean, score_files

# A file has several chunks among the hits: so many of them hold the k best files.
CHUNKS_PER_FILE = 5


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """What a language model's answer was worth."""

    citations: int
    valid_citations: int
    expected_cited: float
    """Share of the expected files that a citation which holds names."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One question with what came of it."""

    question: EvalQuestion
    ranked: tuple[str, ...]
    """Distinct paths, best first."""
    contexts: tuple[str, ...]
    """The text of the hits, best first."""
    score: Score
    answer: Answer | None = None
    answer_score: AnswerScore | None = None
    error: str = ""
    """Why the model gave no answer."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The means over all questions, and the sums over all answers."""

    questions: int
    score: Score
    answered: int = 0
    citations: int = 0
    valid_citations: int = 0
    expected_cited: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def citation_validity(self) -> float | None:
        """Return the share of citations that hold, None without any."""
        return self.valid_citations / self.citations if self.citations else None


def judge(
    questions: Iterable[EvalQuestion],
    *,
    k: int,
    retrieve: Callable[[str], Retrieved],
    answer: Callable[[str], Answered] | None,
) -> Iterator[Judged]:
    """Yield each question scored at k files; with an answer where one can be had.

    Raises:
        RunError: no call to the language model can work.
    """
    for question in questions:
        hits = retrieve(question.text).hits
        ranked = tuple(dict.fromkeys(hit.chunk.path for hit in hits))
        contexts = tuple(hit.chunk.text for hit in hits)
        score = score_files(ranked, question.paths, depth=k)
        judged = Judged(question, ranked, contexts, score)
        yield judged if answer is None else _with_answer(judged, answer)


def total(judged: Sequence[Judged]) -> Totals:
    """Sum a run of at least one question up."""
    scores = [one.score for one in judged]
    of_answers = [one.answer_score for one in judged if one.answer_score]
    return Totals(
        questions=len(judged),
        score=Score(
            ndcg=mean([score.ndcg for score in scores]),
            recall=mean([score.recall for score in scores]),
            reciprocal_rank=mean([score.reciprocal_rank for score in scores]),
            first=mean([score.first for score in scores]),
        ),
        answered=len(of_answers),
        citations=sum(one.citations for one in of_answers),
        valid_citations=sum(one.valid_citations for one in of_answers),
        expected_cited=mean([one.expected_cited for one in of_answers]) if of_answers else 0.0,
        usage=sum((one.answer.usage for one in judged if one.answer), Usage()),
    )


def _with_answer(judged: Judged, answer: Callable[[str], Answered]) -> Judged:
    question = judged.question
    try:
        said = answer(question.text).answer
    except RunError:
        raise
    except LanguageModelError as error:
        # one question that cannot be answered must not lose what the others cost
        return Judged(question, judged.ranked, judged.contexts, judged.score, error=error.message)
    valid = [citation for citation in said.citations if citation.valid]
    cited = {citation.path for citation in valid} & set(question.paths)
    worth = AnswerScore(len(said.citations), len(valid), len(cited) / len(question.paths))
    return Judged(question, judged.ranked, judged.contexts, judged.score, said, worth)
