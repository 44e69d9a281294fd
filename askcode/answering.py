"""Answer a question: widen, retrieve, pack, ask the model, check what it cites."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from askcode.answered import Answered as Answered
from askcode.citing import ReadLines, check_citations, summarize, unknown_identifiers
from askcode.errors import ContextTooLong, LanguageModelError
from askcode.packing import Packed, pack
from askcode.prompting import Prompts, Turn, numbered_lines
from askcode.protocols import LanguageModel
from askcode.records import Answer, Excerpt, Prompt, Question, Reply, Retrieved, Usage

if TYPE_CHECKING:
    from askcode.widening import Widened

# 12,000 tokens halved three times are 1,500: a model that cannot take these cannot answer.
MAX_HALVINGS = 3
# What a follow-up refers to is nearly always in the last turn or two.
HISTORY_TOKENS = 2_000
_STANDALONE_TOKENS = 300


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A follow-up as a question that needs no conversation."""

    text: str
    usage: Usage = field(default_factory=Usage)


def _keep(text: str) -> str:
    return text


def _no_searches(text: str) -> tuple[str, ...]:
    return ()


def _ignore(piece: str) -> None:
    """Take a piece of text and do nothing."""


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answer questions about one index, with a language model or without."""

    retrieve: Callable[[Question], Retrieved]
    read_lines: ReadLines
    """A file's lines as they are on disk, None when it is gone."""
    prompts: Prompts
    count_tokens: Callable[[str], int]
    context_tokens: int = 12_000
    """Room for the excerpts of one prompt."""
    model: LanguageModel | None = None
    widen: Callable[[str], Widened] | None = None
    mask: Callable[[str], str] = _keep
    """Hides secrets in what leaves this machine; not used for a local model."""
    root: str = ""
    has_repositories: bool = False
    """Whether paths are `name:path`, of several repositories."""
    own_searches: Callable[[str], tuple[str, ...]] = _no_searches
    """What installed packages would search for beside the question."""

    def answer(self, question: Question, *, on_text: Callable[[str], None] = _ignore) -> Answered:
        """Return the answer; its text is passed on as it arrives, before it is checked.

        Raises:
            IndexUnusable: there is nothing to search.
            ModelUnavailable: a model cannot be used, or its answer is empty or cut off.
            StepError: an own step fails.
        """
        started = time.monotonic()
        question, usage, remark = self._widened(question)
        retrieved = self.retrieve(question)
        if remark:
            retrieved = replace(retrieved, warnings=(remark, *retrieved.warnings))
        seconds = {"search": time.monotonic() - started}
        mode = self._mode(retrieved)
        answer = Answer(mode, question, None, sources_of(retrieved), (), retrieved, usage)
        if mode != "answer" or self.model is None:
            return Answered(answer, seconds=seconds, warnings=retrieved.warnings)
        started = time.monotonic()
        answered = self._ask(self.model, answer, on_text)
        seconds["answer"] = time.monotonic() - started
        return replace(answered, seconds=seconds)

    def standalone(self, text: str, turns: Sequence[Turn]) -> Rewritten:
        """Rewrite a follow-up so that it can be understood without the turns before it.

        Raises:
            ModelUnavailable: the model cannot be used.
        """
        recent = self._recent(turns)
        if self.model is None or not recent:
            return Rewritten(text)
        boundary = self.prompts.boundary(
            text, *(f"{turn.question}{turn.answer}" for turn in recent)
        )
        user = self.prompts.render("standalone", question=text, turns=recent, boundary=boundary)
        reply = self.model.complete(
            Prompt(self.prompts.render("widen_system"), user, _STANDALONE_TOKENS)
        )
        lines = [line.strip() for line in reply.text.splitlines() if line.strip()]
        # a reply of several lines is an answer or a refusal, not the one line asked for
        return Rewritten(lines[0] if len(lines) == 1 else text, reply.usage)

    def _widened(self, question: Question) -> tuple[Question, Usage, str]:
        """Return the question with its searches, what they took, and a remark or nothing."""
        question = _searched(question, self.own_searches(question.text))
        if self.model is None or self.widen is None:
            return question, Usage(), ""
        widened = self.widen(question.text)
        asked = _searched(question, widened.searches)
        return asked, widened.usage, widened.warning

    def _mode(self, retrieved: Retrieved) -> str:
        if all(hit.chunk.path in retrieved.deleted for hit in retrieved.hits):
            return "nothing_found"
        return "answer" if self.model else "excerpts"

    def _ask(
        self, model: LanguageModel, answer: Answer, on_text: Callable[[str], None]
    ) -> Answered:
        request, reply = self._reply(model, answer, on_text)
        excerpts = request.packed.excerpts
        checked = check_citations(
            reply.text,
            excerpts,
            read_lines=self.read_lines,
            root=self.root,
            has_repositories=self.has_repositories,
        )
        names = unknown_identifiers(reply.text, excerpts, known=answer.question.text)
        finished = replace(
            answer,
            text=checked.text,
            citations=checked.citations,
            usage=answer.usage + reply.usage,
            unknown_identifiers=names,
        )
        warnings = (*answer.retrieved.warnings, *request.warnings, *_cut_warning(reply))
        return Answered(finished, request.packed, request.tokens, warnings=warnings)

    def _reply(
        self, model: LanguageModel, answer: Answer, on_text: Callable[[str], None]
    ) -> tuple[_Request, Reply]:
        """Ask, with half as many excerpts each time the model says that they are too many."""
        for halving in range(MAX_HALVINGS + 1):
            request = self._request(model, answer, self.context_tokens >> halving)
            try:
                reply = model.stream(request.prompt, on_text=on_text)
            except ContextTooLong as error:
                too_long = error
                continue
            if not reply.text.strip():
                raise LanguageModelError(
                    f"the model {model.name} gave an empty answer",
                    hint="ask again, or choose another model with --llm-model",
                )
            return request, reply
        raise ContextTooLong(
            f"the context does not fit: {request.tokens} tokens",
            hint="lower context_tokens or --top-k, or choose a model with a larger window",
        ) from too_long

    def _request(self, model: LanguageModel, answer: Answer, budget: int) -> _Request:
        mask = _keep if model.is_local else self.mask
        packed = pack(
            answer.retrieved.hits,
            budget=budget,
            measure=lambda excerpt: self.count_tokens(self._shown(excerpt, mask)),
            stale=answer.retrieved.stale,
            deleted=answer.retrieved.deleted,
        )
        if not packed.excerpts:
            raise ContextTooLong(
                f"no excerpt fits into {budget} tokens", hint="raise context_tokens"
            )
        shown = [self._shown(excerpt, mask) for excerpt in packed.excerpts]
        text = answer.question.text
        prompt = Prompt(
            self.prompts.render("answer_system"),
            self.prompts.render(
                "answer",
                question=text,
                excerpts=shown,
                boundary=self.prompts.boundary(text, *shown),
            ),
        )
        tokens = self.count_tokens(prompt.system) + self.count_tokens(prompt.user)
        warnings = (
            (f"the excerpts were cut to {budget} tokens: the model's window is smaller",)
            if budget < self.context_tokens
            else ()
        )
        return _Request(prompt, packed, tokens, warnings)

    def _shown(self, excerpt: Excerpt, mask: Callable[[str], str]) -> str:
        return self.prompts.render(
            "excerpt",
            number=excerpt.number,
            path=excerpt.path,
            start_line=excerpt.start_line,
            end_line=excerpt.end_line,
            language=excerpt.language or "",
            symbol=excerpt.symbol or "",
            lines=numbered_lines(_masked(excerpt.text, mask), first=excerpt.start_line),
        )

    def _recent(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return the last turns that fit into the budget, oldest first."""
        recent: list[Turn] = []
        left = HISTORY_TOKENS
        for turn in reversed(turns):
            left -= self.count_tokens(turn.question) + self.count_tokens(turn.answer)
            if left < 0:
                break
            recent.insert(0, turn)
        return recent


@dataclass(frozen=True, slots=True)
class _Request:
    """One prompt for an answer and what went into it."""

    prompt: Prompt
    packed: Packed
    tokens: int
    warnings: tuple[str, ...]


def sources_of(retrieved: Retrieved) -> tuple[str, ...]:
    """Return the distinct paths of the hits, best first, without files that are gone."""
    paths = dict.fromkeys(hit.chunk.path for hit in retrieved.hits)
    return tuple(path for path in paths if path not in retrieved.deleted)


def strict_failure(answer: Answer) -> str:
    """Return why `--strict` refuses an answer: a citation fails or none is given; else empty."""
    if answer.mode != "answer":
        return ""
    if answer.citations and all(citation.valid for citation in answer.citations):
        return ""
    return summarize(answer.citations)


def _searched(question: Question, more: Sequence[str]) -> Question:
    """Return the question with more searches, each once, its own words first."""
    return replace(question, searches=tuple(dict.fromkeys((*question.searches, *more))))


def _masked(text: str, mask: Callable[[str], str]) -> str:
    """Mask without moving lines: a secret of several lines keeps as many."""
    lines, masked = text.split("\n"), mask(text).split("\n")
    if len(lines) == len(masked):
        return "\n".join(masked)
    same = [one == other for one, other in zip(lines, masked, strict=False)]
    head = same.index(False) if False in same else len(same)
    room = min(len(lines), len(masked)) - head
    same = [lines[-back] == masked[-back] for back in range(1, room + 1)]
    tail = same.index(False) if False in same else len(same)
    middle = masked[head : len(masked) - tail]
    wanted = len(lines) - tail - head
    padded = [*middle[:wanted], *[""] * (wanted - len(middle))]
    return "\n".join([*lines[:head], *padded, *lines[len(lines) - tail :]])


def _cut_warning(reply: Reply) -> tuple[str, ...]:
    if reply.finish_reason == "length":
        return ("the answer was cut: the model reached its limit of output tokens",)
    if reply.finish_reason == "content_filter":
        return ("the answer was cut by the provider's content filter",)
    return ()
