"""Turn results into the JSON objects of version 1: their keys are a contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from askcode.records import (
    Answer,
    Citation,
    EmbedderIdentity,
    FilePlan,
    Hit,
    IndexPlan,
    IndexReport,
    Retrieved,
    Usage,
)

if TYPE_CHECKING:
    from askcode.history import Entry
    from askcode.own_steps import OwnStep

JSON_VERSION = 1

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A setting with its value as it may be shown, and where it came from."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class RepositoryStatus:
    """What `askcode status` tells of one repository of several."""

    name: str
    root: str
    files: int
    chunks: int
    stale: int
    """Files that are new, changed or gone since they were indexed."""
    is_there: bool
    """Whether its folder is on this machine."""


@dataclass(frozen=True, slots=True)
class Status:
    """What `askcode status` tells."""

    root: str
    index_dir: str
    files: int
    chunks: int
    languages: Mapping[str, int]
    """Files by language; those without one under "other"."""
    questions: int
    bytes: int
    embedder: EmbedderIdentity
    models: Mapping[str, str] = field(default_factory=dict)
    """Language model by stage; empty when none is configured."""
    metadata: tuple[str, ...] = ()
    new: int = 0
    changed: int = 0
    deleted: int = 0
    spent: Usage = field(default_factory=Usage)
    settings: tuple[ShownSetting, ...] = ()
    repositories: tuple[RepositoryStatus, ...] = ()
    """Those of an index of several; empty for one code base alone."""
    steps: tuple[OwnStep, ...] = ()

    @property
    def is_fresh(self) -> bool:
        """Return whether the index says what the files say."""
        return not (self.new or self.changed or self.deleted)


def plan_json(plan: IndexPlan) -> JsonObject:
    """Return the object of `index --dry-run --json`."""
    return {
        "version": JSON_VERSION,
        "files": [_file_plan(file) for file in plan.files],
        "removed": list(plan.removed),
        "chunks": plan.chunks,
        "llm": {
            "calls": plan.estimate.calls,
            "input_tokens": plan.estimate.input_tokens,
            "output_tokens": plan.estimate.output_tokens,
        },
    }


def report_json(report: IndexReport) -> JsonObject:
    """Return the object of `index --json`."""
    return {
        "version": JSON_VERSION,
        "files": {
            "indexed": report.indexed,
            "unchanged": report.unchanged,
            "removed": report.removed,
            "skipped": len(report.skipped),
        },
        "skipped": [{"path": left.path, "reason": left.reason} for left in report.skipped],
        "failed": [{"path": file.path, "error": file.error} for file in report.failed],
        "chunks": {"written": report.chunks_written, "total": report.chunks_total},
        "llm": {**usage_json(report.usage), "reused": report.reused},
        "embedding": {"model": report.embedder.name, "dim": report.embedder.dim},
        "seconds": round(report.seconds, 3),
    }


def search_json(retrieved: Retrieved) -> JsonObject:
    """Return the object of `search --json`."""
    return {
        "version": JSON_VERSION,
        "hits": hits_json(retrieved.hits),
        "stale": list(retrieved.stale),
    }


def answer_json(answer: Answer) -> JsonObject:
    """Return the object of `ask --json`."""
    return {
        "version": JSON_VERSION,
        "mode": answer.mode,
        "question": answer.question.text,
        "subquestions": list(answer.question.searches[1:]),
        "answer": answer.text if answer.mode == "answer" else None,
        "sources": list(answer.sources),
        "citations": [_citation(citation) for citation in answer.citations],
        "hits": hits_json(answer.retrieved.hits),
        "usage": usage_json(answer.usage),
        "stale": list(answer.retrieved.stale),
    }


def status_json(status: Status) -> JsonObject:
    """Return the object of `status --json`; one of several repositories lists them, too."""
    value = _status_json(status)
    if status.repositories:
        value["repositories"] = [
            {
                "name": each.name,
                "root": each.root,
                "files": each.files,
                "chunks": each.chunks,
                "stale": each.stale,
                "present": each.is_there,
            }
            for each in status.repositories
        ]
    return value


def _status_json(status: Status) -> JsonObject:
    return {
        "version": JSON_VERSION,
        "root": status.root,
        "index_dir": status.index_dir,
        "files": status.files,
        "chunks": status.chunks,
        "languages": dict(status.languages),
        "questions": status.questions,
        "metadata": list(status.metadata),
        "bytes": status.bytes,
        "embedding": {"model": status.embedder.name, "dim": status.embedder.dim},
        "models": dict(status.models),
        "freshness": {
            "new": status.new,
            "changed": status.changed,
            "deleted": status.deleted,
        },
        "spent": usage_json(status.spent),
        "settings": [
            {"name": each.name, "value": each.value, "origin": each.origin}
            for each in status.settings
        ],
        "steps": [asdict(step) for step in status.steps],
    }


def history_json(entries: Iterable[Entry]) -> JsonObject:
    """Return the object of `history --json`, oldest question first."""
    return {
        "version": JSON_VERSION,
        "questions": [_entry(entry) for entry in entries],
    }


def hits_json(hits: Iterable[Hit]) -> list[JsonObject]:
    """Return hits as they stand in the objects of search and ask."""
    return [
        {
            "rank": rank,
            "path": hit.chunk.path,
            "start_line": hit.chunk.start_line,
            "end_line": hit.chunk.end_line,
            "language": hit.chunk.language,
            "symbol": hit.chunk.symbol,
            "score": round(hit.score, 6),
            "text": hit.chunk.text,
        }
        for rank, hit in enumerate(hits, start=1)
    ]


def usage_json(usage: Usage) -> JsonObject:
    """Return calls and tokens."""
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


def _file_plan(file: FilePlan) -> JsonObject:
    return {
        "path": file.path,
        "decision": file.decision,
        "reason": file.reason,
        "bytes": file.bytes,
        "language": file.language,
    }


def _entry(entry: Entry) -> JsonObject:
    return {
        "asked_at": entry.asked_at,
        "conversation": entry.conversation,
        "question": entry.question,
        "standalone": entry.standalone,
        "subquestions": list(entry.subquestions),
        "mode": entry.mode,
        "answer": entry.answer,
        "sources": list(entry.sources),
        "hits": [asdict(hit) for hit in entry.hits],
        "citations": [asdict(citation) for citation in entry.citations],
        "prompt_tokens": entry.prompt_tokens,
        "usage": {
            "calls": entry.calls,
            "input_tokens": entry.input_tokens,
            "output_tokens": entry.output_tokens,
        },
        "seconds": dict(entry.seconds),
    }


def _citation(citation: Citation) -> JsonObject:
    return {
        "path": citation.path,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
        "valid": citation.valid,
        "why": citation.why,
    }
