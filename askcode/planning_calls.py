"""Turn chunks into calls to the language model; an estimate and a run plan alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from askcode.masking import MASK, mask
from askcode.prompting import Part, Prompts
from askcode.records import Chunk, Prompt, SourceFile, digest_text
from askcode.terminal_text import escape_line

MODEL_KINDS = ("questions", "summary", "title", "keywords")
"""Metadata kinds that the language model writes; `outline` is read off the syntax."""

# Chunks of one file may share a call as long as the model still gives each its due: about
# as much source as one full chunk of a hosted embedder, and few enough pieces to count.
SHARED_SOURCE_TOKENS = 1_500
SHARED_PIECES = 6

# Chat formats wrap each message in a few tokens and open the reply with some: two messages
# of 4 and 3 for the reply, as the OpenAI cookbook counts them.
CHAT_OVERHEAD_TOKENS = 11

# What a reply takes: a question of 15 tokens, an answer of one or two sentences and two
# labels; a summary of three sentences; a title; ten keywords.
TOKENS_PER_QUESTION = 50
TOKENS_PER_NOTE = {"summary": 80, "title": 12, "keywords": 35}

# A window too small for a chunk is met with a third of it: head and tail say most.
SHRUNK_SHARE = 3
CUT_MARK = "[... lines left out ...]"


@dataclass(frozen=True, slots=True)
class Want:
    """One kind of metadata that one chunk lacks."""

    chunk: Chunk
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request: a kind of metadata for one chunk, or for several of the same file."""

    kind: str
    template: str
    wants: tuple[Want, ...]
    sources: tuple[str, ...]
    """What is shown of each chunk: its text, with secrets masked where it leaves the machine."""
    attempt: int = 1
    is_unread: bool = False
    """Whether the reply to the same request could not be used."""

    @property
    def path(self) -> str:
        """Return the file the call is about."""
        return self.wants[0].chunk.path


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls of one file, and how many secrets are masked in what they send."""

    calls: tuple[Call, ...]
    masked: int = 0


@dataclass(frozen=True, slots=True)
class CallPlanner:
    """Plan and render calls for one model and one set of prompts."""

    prompts: Prompts
    count_tokens: Callable[[str], int]
    kinds: tuple[str, ...]
    questions_per_chunk: int
    model_name: str
    chunks_per_call: int
    masks_secrets: bool

    def key(self, chunk: Chunk, kind: str) -> str:
        """Return what a reply is kept under: content, prompt, model, and how many questions.

        Path and place of the chunk do not count, so that a moved chunk is not paid for again.
        """
        template = template_for(kind, chunk)
        count = str(self.questions_per_chunk) if kind == "questions" else ""
        prompts = (self.prompts.digest(template), self.prompts.digest("describe_system"))
        return digest_text(chunk.digest, kind, *prompts, self.model_name, count)

    def plan(self, file: SourceFile, wants: Sequence[Want]) -> Plan:
        """Return the calls for what the chunks of a file lack, in the order of the file."""
        if not wants:
            return Plan(())
        shown = _Shown(file) if self.masks_secrets else None
        chunks = dict.fromkeys(want.chunk for want in wants)
        sources = {chunk: shown.source(chunk) if shown else chunk.text for chunk in chunks}
        masked = sum(
            max(source.count(MASK) - chunk.text.count(MASK), 0) for chunk, source in sources.items()
        )
        calls = [self._call(group, sources) for group in self._groups(wants, sources)]
        return Plan(tuple(calls), masked)

    def prompt(self, call: Call) -> Prompt:
        """Render a call."""
        chunk = call.wants[0].chunk
        parts = [
            Part(
                number,
                escape_line(want.chunk.symbol or ""),
                escape_line(want.chunk.signature or ""),
                source,
            )
            for number, (want, source) in enumerate(zip(call.wants, call.sources, strict=True), 1)
        ]
        path = escape_line(chunk.path)
        around = [text for part in parts for text in (part.symbol, part.signature, part.code)]
        values: dict[str, object] = {
            "path": path,
            "language": chunk.language or "",
            "boundary": self.prompts.boundary(path, *around),
            "again": call.is_unread,
        }
        if call.kind == "questions":
            values |= {"count": self.questions_per_chunk, "parts": parts}
        else:
            (part,) = parts
            values |= {"symbol": part.symbol, "signature": part.signature, "code": part.code}
        system = self.prompts.render("describe_system")
        return Prompt(system, self.prompts.render(call.template, **values))

    def input_tokens(self, prompt: Prompt) -> int:
        """Count what a request takes."""
        count = self.count_tokens(prompt.system) + self.count_tokens(prompt.user)
        return count + CHAT_OVERHEAD_TOKENS

    def output_tokens(self, call: Call) -> int:
        """Expect what its reply takes."""
        if call.kind == "questions":
            return TOKENS_PER_QUESTION * self.questions_per_chunk * len(call.wants)
        return TOKENS_PER_NOTE[call.kind]

    def shrunk(self, call: Call) -> Call:
        """Return a call that shows head and tail of its one chunk, with the cut marked."""
        (source,) = call.sources
        return replace(call, sources=(shorten(source),), attempt=call.attempt + 1)

    def _call(self, wants: Sequence[Want], sources: dict[Chunk, str]) -> Call:
        first = wants[0]
        template = template_for(first.kind, first.chunk)
        return Call(
            first.kind, template, tuple(wants), tuple(sources[want.chunk] for want in wants)
        )

    def _groups(self, wants: Sequence[Want], sources: dict[Chunk, str]) -> Iterator[list[Want]]:
        """Put neighbours together while they are few and short enough to share a call."""
        for kind in self.kinds:
            group: list[Want] = []
            room = 0
            for want in wants:
                if want.kind != kind:
                    continue
                size = self._size(want, sources)
                if group and (not self._fits(group, want) or size > room):
                    yield group
                    group = []
                room = (room if group else SHARED_SOURCE_TOKENS) - size
                group.append(want)
            if group:
                yield group

    def _fits(self, group: Sequence[Want], want: Want) -> bool:
        is_shareable = want.kind == "questions" and len(group) < self.chunks_per_call
        first = group[0].chunk
        return is_shareable and template_for(want.kind, first) == template_for(
            want.kind, want.chunk
        )

    def _size(self, want: Want, sources: dict[Chunk, str]) -> int:
        is_alone = self.chunks_per_call == 1 or want.kind != "questions"
        return 0 if is_alone else self.count_tokens(sources[want.chunk])


def template_for(kind: str, chunk: Chunk) -> str:
    """Return the prompt of a kind for a chunk: questions about prose have their own."""
    is_prose = kind == "questions" and chunk.kind == "prose"
    return "questions_prose" if is_prose else kind


def latest_key(chunk: Chunk, kind: str) -> str:
    """Return what the latest reply of any model and prompt is kept under, for runs without one."""
    return digest_text("latest", chunk.digest, kind)


def says_something(chunk: Chunk) -> bool:
    """Return whether a chunk holds a word: there is nothing to ask about `{}` or `---`."""
    return re.search(r"[^\W\d_]{2}", chunk.text) is not None


def alone(call: Call, number: int, *, attempt: int, is_unread: bool = False) -> Call:
    """Return the call for one of a call's chunks by itself."""
    return replace(
        call,
        wants=call.wants[number : number + 1],
        sources=call.sources[number : number + 1],
        attempt=attempt,
        is_unread=is_unread,
    )


def shorten(source: str) -> str:
    """Keep head and tail of a source, by lines where it has enough of them."""
    lines = source.split("\n")
    if len(lines) > 2 * SHRUNK_SHARE:
        kept = len(lines) // (2 * SHRUNK_SHARE)
        head, tail = "\n".join(lines[:kept]), "\n".join(lines[-kept:])
        if len(head) + len(tail) <= 2 * len(source) // SHRUNK_SHARE:
            return f"{head}\n{CUT_MARK}\n{tail}"
    kept = len(source) // (2 * SHRUNK_SHARE)
    return f"{source[:kept]}\n{CUT_MARK}\n{source[len(source) - kept :]}"


class _Shown:
    """A file as it may leave the machine: masked as a whole, since a key may span chunks."""

    def __init__(self, file: SourceFile) -> None:
        self._language = file.language
        self._lines = file.text.split("\n")
        masked = mask(file.text, language=file.language)
        self._masked = masked.text.split("\n") if masked.count else None

    def source(self, chunk: Chunk) -> str:
        """Return the chunk's text with the file's secrets masked."""
        lines = slice(chunk.start_line - 1, chunk.end_line)
        if "\n".join(self._lines[lines]) != chunk.text:
            # cells of notebooks and parts of long lines are not whole lines of the file
            return mask(chunk.text, language=self._language).text
        return "\n".join(self._masked[lines]) if self._masked else chunk.text
