"""Show one answer: streamed, rendered or as JSON, with its sources, and keep it in the history."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rich.console import Console

from askcode.answering import Answered, Answerer, strict_failure
from askcode.cli import rendering
from askcode.cli.linking import file_url, print_linked
from askcode.cli.output import note, open_console, print_json, print_lines
from askcode.cli.streaming import AnswerStream, RawStream, open_stream, print_markdown
from askcode.errors import UsageError
from askcode.history import History, make_entry, turns_of
from askcode.records import Question, Retrieved, Usage
from askcode.repositories import Roots


@dataclass(frozen=True, slots=True)
class AnswerShow:
    """How one call of `ask` wants to see its answer."""

    roots: Roots
    answerer: Answerer
    history: History
    as_json: bool = False
    quiet: bool = False
    explain: bool = False
    is_streamed: bool = True
    is_plain: bool = False

    def ask(self, question: Question, *, follow_up: bool) -> str:
        """Ask, show and keep; return why `--strict` would refuse the answer, or nothing.

        Raises:
            UsageError: a follow-up without a conversation or a model.
        """
        typed = question.text
        conversation, rewriting = "", Usage()
        if follow_up:
            question, conversation, rewriting = self._standalone(question)
        answered = self._shown(question, rewriting)
        self.history.keep(make_entry(answered, question=typed, conversation=conversation))
        self._remark(answered)
        return strict_failure(answered.answer)

    def _standalone(self, question: Question) -> tuple[Question, str, Usage]:
        past = self.history.conversation()
        if not past:
            raise UsageError("there is no conversation to continue", hint="ask without --follow-up")
        if self.answerer.model is None:
            raise UsageError(
                "a follow-up needs a language model", hint="ask a question that stands alone"
            )
        rewritten = self.answerer.standalone(question.text, turns_of(past))
        if self.explain and not self.quiet:
            note(f"asked as: {rewritten.text}")
        asked = replace(question, text=rewritten.text, searches=(rewritten.text,))
        return asked, past[-1].conversation, rewritten.usage

    def _shown(self, question: Question, before: Usage) -> Answered:
        if self.as_json:
            answered = _with_usage(self.answerer.answer(question), before)
            print_json(rendering.answer_json(answered.answer))
            return answered
        console = open_console()
        if self.is_streamed and self.answerer.model is not None:
            answered = self._streamed(console, question)
        else:
            answered = self.answerer.answer(question)
            if answered.answer.text is not None:
                self._print_whole(console, answered.answer.text)
        answered = _with_usage(answered, before)
        self._footer(console, answered)
        return answered

    def _streamed(self, console: Console, question: Question) -> Answered:
        with self._stream(console) as stream:
            return self.answerer.answer(question, on_text=stream.feed)

    def _stream(self, console: Console) -> AnswerStream:
        if self.is_plain:
            return RawStream(console)
        return open_stream(console, link_for=self._link_for)

    def _print_whole(self, console: Console, text: str) -> None:
        if self.is_plain:
            with RawStream(console) as stream:
                stream.feed(text)
        else:
            print_markdown(console, text, link_for=self._link_for)

    def _footer(self, console: Console, answered: Answered) -> None:
        answer = answered.answer
        lines: list[str] = []
        if answer.mode == "nothing_found":
            lines = rendering.nothing_found_lines(answer.retrieved)
        elif answer.mode == "excerpts":
            lines = rendering.excerpt_lines(answer.retrieved)
        else:
            lines = ["", *rendering.citation_lines(answer.citations)]
        lines += ["", *rendering.source_lines(answer, with_places=console.is_terminal)]
        paths = [hit.chunk.path for hit in answer.retrieved.hits]
        print_linked(console, lines, roots=self.roots, paths=paths)
        if self.explain:
            print_lines(["", *rendering.explain_lines(answer, answered.packed)], to_stderr=True)

    def _remark(self, answered: Answered) -> None:
        if self.quiet:
            return
        answer = answered.answer
        for warning in answered.warnings:
            note(warning)
        tell_stale(answer.retrieved)
        if answer.mode == "excerpts" and not self.as_json:
            note(
                "no model answered: these are the best excerpts; "
                "set OPENAI_API_KEY, OPENAI_BASE_URL or ASKCODE_PROVIDER for an answer"
            )

    def _link_for(self, place: str) -> str | None:
        return place_link(self.roots, place)


def _with_usage(answered: Answered, before: Usage) -> Answered:
    answer = answered.answer
    return replace(answered, answer=replace(answer, usage=before + answer.usage))


def tell_stale(found: Retrieved) -> None:
    """Say on stderr how many files changed since the index was made."""
    if found.stale:
        count = rendering.counted(len(found.stale), "file")
        note(f"{count} changed since the index was made; run `askcode index`")


def place_link(roots: Roots, place: str) -> str | None:
    """Return the URL of a cited place such as `src/a.py:3-9`, or None without such a file."""
    path, _, lines = place.rpartition(":")
    located = roots.locate(path or place)
    if not (located.root / located.path).is_file():
        return None
    return file_url(roots, path or place, lines.split("-")[0] if path else "")
