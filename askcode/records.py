"""The frozen values that flow between the steps.

Paths are repo-relative POSIX strings; bytes of a name that are not UTF-8 are
surrogate escapes (PEP 383), as `os.fsdecode` makes them. Lines are 1-based and
inclusive. Digests are lower-case hex.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""float32, shape (n, dim), rows of unit length."""


def digest_text(*parts: str) -> str:
    """Return the hex digest of parts, each set apart from the next: 32 characters."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as askcode reads it: decoded, "\\n" line ends, no byte order mark."""

    path: str
    text: str
    language: str | None
    digest: str
    note: str = ""
    """What was lenient in reading it ("decoded as cp1252"), or empty."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out, with a reason in one word or two ("too large")."""

    path: str
    reason: str
    detail: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of lines of one file that belong together."""

    path: str
    start_line: int
    end_line: int
    text: str
    language: str | None = None
    kind: str = "code"
    """"code", "prose" (Markdown, reStructuredText, text cells) or "text"."""
    symbol: str | None = None
    """The smallest definition around the whole chunk, qualified: `Parser.parse`."""
    signature: str | None = None
    """The first line or lines of that definition, in one line."""
    definitions: tuple[str, ...] = ()
    """Qualified names of what begins in the chunk, in order."""

    @property
    def location(self) -> str:
        """Return `path:start-end`."""
        return f"{self.path}:{self.start_line}-{self.end_line}"

    @property
    def digest(self) -> str:
        """Return the digest of what the language model would be asked about.

        Blanks at line ends and blank lines around do not count, nor do path and place, so
        that a moved chunk or a reformatted line end is never paid for twice.
        """
        lines = "\n".join(line.rstrip() for line in self.text.split("\n")).strip("\n")
        return digest_text(lines, self.language or "", self.kind)


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """A question that a chunk answers, with its short answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Note:
    """One kind of metadata other than questions: summary, title, keywords, outline."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a chunk beyond its own text."""

    questions: tuple[QuestionAnswer, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the metadata kinds that are there, sorted."""
        found = {note.kind for note in self.notes}
        return tuple(sorted(found | ({"questions"} if self.questions else set())))


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls to the language model and the tokens they took."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to the language model."""

    system: str
    user: str
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's whole reply; `finish_reason` as the server gave it ("stop", "length")."""

    text: str
    usage: Usage
    finish_reason: str = "stop"


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which model made the vectors: equal identities give equal vectors."""

    name: str
    digest: str
    """Of the model's files, or of endpoint and model name where there are none."""
    dim: int


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk as the store keeps it."""

    chunk: Chunk
    description: Description
    file_digest: str
    search_text: str
    """Tokens for full-text search, separated by blanks (see tokenizing)."""
    vectors: Vectors
    """Shape (n, dim), n >= 1: a search takes the best of them."""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """What the store holds of one file."""

    path: str
    digest: str
    language: str | None
    chunks: int
    kinds: tuple[str, ...]
    """Metadata kinds that every chunk of the file has."""
    questions: int
    some_kinds: tuple[str, ...] = ()
    """Metadata kinds that at least one chunk of the file has."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is limited to, before it runs; empty means no limit."""

    path_globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    """Globs of names. Given, the paths of the index are `name:path`, and those globs are for
    what is behind the name."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row found by one search of the store, with that search's own score."""

    chunk: Chunk
    description: Description
    file_digest: str
    score: float
    """Higher is better: cosine similarity in [-1, 1], or BM25 >= 0."""


@dataclass(frozen=True, slots=True)
class Question:
    """What the user asks."""

    text: str
    """The user's words: what the model answers."""
    searches: tuple[str, ...]
    """What retrieval runs; the first is the text."""
    filters: Filters = Filters()


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk, ranked."""

    chunk: Chunk
    description: Description
    file_digest: str
    score: float
    """Higher is better; comparable within one list only."""
    relevance: float = 0.0
    """In [0, 1]; means the same from one question to the next."""
    vector_rank: int | None = None
    text_rank: int | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    """What each part of the ranking added to the score, by name."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a question found."""

    hits: tuple[Hit, ...]
    stale: tuple[str, ...] = ()
    """Paths among the hits whose file changed or went since it was indexed."""
    deleted: tuple[str, ...] = ()
    """Those of `stale` that are gone."""
    nearest: tuple[str, ...] = ()
    """When there are no hits: the files that came closest, best first."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file as they are shown to the language model, under a number."""

    number: int
    path: str
    start_line: int
    end_line: int
    text: str
    """The lines as they were indexed, secrets and all: masking belongs to the rendering."""
    language: str | None = None
    symbol: str | None = None
    is_cut: bool = False
    """Whether lines of the chunk after `end_line` were left out for want of room."""
    is_changed: bool = False
    """Whether the file on disk is no longer what was indexed."""

    @property
    def location(self) -> str:
        """Return `path:start-end`."""
        return f"{self.path}:{self.start_line}-{self.end_line}"


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that an answer names, checked."""

    path: str
    start_line: int
    end_line: int
    valid: bool
    why: str = ""
    """Why it does not hold, or how it was repaired; empty when it held as written."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, with what it rests on."""

    mode: str
    """"answer", "excerpts" or "nothing_found"."""
    question: Question
    text: str | None
    sources: tuple[str, ...]
    citations: tuple[Citation, ...] = ()
    retrieved: Retrieved = Retrieved(())
    usage: Usage = Usage()
    unknown_identifiers: tuple[str, ...] = ()
    """Names in backticks that occur in no excerpt."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the language model would be asked for: counted, not guessed."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reused: int = 0
    """Chunks whose metadata is known already."""


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a run would do with one file."""

    path: str
    decision: str
    """"index", "unchanged" or "skip"."""
    reason: str = ""
    bytes: int = 0
    language: str | None = None
    note: str = ""
    """What was lenient in reading it ("decoded as cp1252"), or empty."""


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """What a run would do, without doing it."""

    files: tuple[FilePlan, ...]
    removed: tuple[str, ...]
    chunks: int
    estimate: Estimate

    @property
    def is_stale(self) -> bool:
        """Return whether the index differs from the files on disk."""
        return bool(self.removed) or any(file.decision == "index" for file in self.files)


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file whose chunks are stored but not all described, or that was not stored at all."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did."""

    indexed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    failed: tuple[FailedFile, ...]
    chunks_written: int
    chunks_total: int
    usage: Usage
    reused: int
    embedder: EmbedderIdentity
    seconds: float
    stopped: str = ""
    """Why the run ended before all was done ("--max-calls reached"), or empty."""
    masked_secrets: int = 0
    notes: tuple[str, ...] = ()
