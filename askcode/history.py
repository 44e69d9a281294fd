"""Keep each question with its answer, one JSON file a question, beside the index.

The newest 200 are kept. An index that cannot be written to has no history, and that is no
error. A question that follows another up carries the same conversation id.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from askcode.answered import Answered
from askcode.prompting import Turn

# About 2 MB with answers of usual length; a file each, so that a kill can spoil only one.
MAX_ENTRIES = 200
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class PastHit:
    """A hit of a past question."""

    path: str
    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True)
class PastCitation:
    """A citation of a past answer."""

    path: str
    start_line: int
    end_line: int
    valid: bool
    why: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One question, and what came of it."""

    asked_at: str
    """UTC, ISO 8601."""
    conversation: str
    """The same for a question and its follow-ups."""
    question: str
    """As the user typed it."""
    standalone: str
    """As it was asked: the same, unless it was a follow-up."""
    subquestions: tuple[str, ...]
    mode: str
    answer: str | None
    sources: tuple[str, ...]
    hits: tuple[PastHit, ...]
    citations: tuple[PastCitation, ...]
    prompt_tokens: int
    calls: int
    input_tokens: int
    output_tokens: int
    seconds: Mapping[str, float]


def make_entry(
    answered: Answered, *, question: str, conversation: str = "", at: datetime | None = None
) -> Entry:
    """Return what is to be kept of an answer to the question as it was typed.

    Without a conversation it begins one; without a time it is of this moment.
    """
    answer = answered.answer
    return Entry(
        asked_at=(at or datetime.now(UTC)).isoformat(timespec="microseconds"),
        conversation=conversation or secrets.token_hex(8),
        question=question,
        standalone=answer.question.text,
        subquestions=answer.question.searches[1:],
        mode=answer.mode,
        answer=answer.text,
        sources=answer.sources,
        hits=tuple(
            PastHit(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line, hit.score)
            for hit in answer.retrieved.hits
        ),
        citations=tuple(
            PastCitation(each.path, each.start_line, each.end_line, each.valid, each.why)
            for each in answer.citations
        ),
        prompt_tokens=answered.prompt_tokens,
        calls=answer.usage.calls,
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        seconds={stage: round(value, 3) for stage, value in answered.seconds.items()},
    )


@dataclass(frozen=True, slots=True)
class History:
    """The questions kept in one directory."""

    directory: Path

    def keep(self, entry: Entry) -> bool:
        """Add an entry and drop the oldest beyond the limit; False where nothing can be written."""
        stamp = "".join(character for character in entry.asked_at if character.isdigit())
        name = f"{stamp[:20]}-{secrets.token_hex(4)}"
        unfinished = self.directory / f"{name}.tmp"
        text = json.dumps({"format": _FORMAT, **asdict(entry)}, indent=1)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(text + "\n", encoding="utf-8")
            os.replace(unfinished, self.directory / f"{name}.json")
            for path in self._paths()[:-MAX_ENTRIES]:
                path.unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def last(self, count: int) -> list[Entry]:
        """Return the newest entries, oldest first; what cannot be read is passed over."""
        found: list[Entry] = []
        for path in reversed(self._paths()):
            if len(found) >= count:
                break
            entry = _read(path)
            if entry is not None:
                found.append(entry)
        return found[::-1]

    def conversation(self) -> list[Entry]:
        """Return the last conversation, oldest question first; empty before the first one."""
        entries = self.last(MAX_ENTRIES)
        return [each for each in entries if each.conversation == entries[-1].conversation]

    def _paths(self) -> list[Path]:
        try:
            return sorted(self.directory.glob("*.json"))
        except OSError:
            return []


def turns_of(entries: Sequence[Entry]) -> list[Turn]:
    """Return a conversation as the prompt for a follow-up takes it."""
    return [Turn(entry.standalone, entry.answer or "") for entry in entries]


def _read(path: Path) -> Entry | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value.pop("format") != _FORMAT:
            return None
        value["hits"] = tuple(PastHit(**hit) for hit in value["hits"])
        value["citations"] = tuple(PastCitation(**each) for each in value["citations"])
        for key in ("subquestions", "sources"):
            value[key] = tuple(value[key])
        return Entry(**value)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
