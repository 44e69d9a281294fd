"""What the steps need from the rim; the adapters and the tests' fakes provide it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from askcode.records import (
    Candidate,
    EmbedderIdentity,
    Filters,
    IndexedFile,
    Prompt,
    QuestionAnswer,
    Reply,
    Row,
    Usage,
    Vectors,
)


class Embedder(Protocol):
    """Turn texts into vectors."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Return which model this is."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens of each text, special tokens left out."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found, each whole, however long.

        Raises:
            EmbedderError: the model cannot be loaded or reached.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to search with.

        Raises:
            EmbedderError: the model cannot be loaded or reached.
        """
        ...


class Reranker(Protocol):
    """Judge texts by reading each together with the query."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers the query, in [0, 1], higher is better.

        Raises:
            EmbedderError: the model cannot be loaded.
        """
        ...


class LanguageModel(Protocol):
    """Complete prompts; safe to call from several threads."""

    @property
    def name(self) -> str:
        """Return the model's name, as the server knows it."""
        ...

    @property
    def is_local(self) -> bool:
        """Return whether prompts stay on this machine (a loopback endpoint)."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """Return the whole reply.

        Raises:
            TransientError: every try failed in a way that may pass.
            ChunkError: this prompt cannot be answered, another may.
            RunError: no prompt of this run can be answered.
        """
        ...

    def stream(self, prompt: Prompt, *, on_text: Callable[[str], None]) -> Reply:
        """Call on_text with each piece as it arrives; return the whole reply.

        Raises:
            LanguageModelError: as complete; also when the stream is cut or stays empty.
        """
        ...


class Store(Protocol):
    """Keep the rows of one index."""

    def files(self) -> dict[str, IndexedFile]:
        """Return what is stored, by path."""
        ...

    def replace(self, rows: Mapping[str, Sequence[Row]], *, removed: Collection[str] = ()) -> None:
        """Put each path's rows in place of all its old ones and drop removed paths, in one step."""
        ...

    def nearest(self, query: Vectors, *, k: int, filters: Filters) -> list[Candidate]:
        """Return the k rows most similar to a query of shape (1, dim), best first."""
        ...

    def matching(self, tokens: Sequence[str], *, k: int, filters: Filters) -> list[Candidate]:
        """Return the k rows that match the tokens best by BM25, best first."""
        ...

    def count(self, filters: Filters) -> int:
        """Return how many rows a search would look at."""
        ...

    def verify(self) -> None:
        """Read a little through every search structure.

        Raises:
            IndexDamaged: one of them cannot be read.
        """

    def finish(self) -> list[str]:
        """Bring search structures up to date and drop what old versions left; return warnings."""
        ...


class DescriptionCache(Protocol):
    """Keep what the language model was paid for, apart from the rows that use it."""

    def get(self, keys: Collection[str]) -> dict[str, tuple[QuestionAnswer, ...] | str]:
        """Return what is known, by key; keys that are not known are absent."""
        ...

    def put(self, key: str, value: tuple[QuestionAnswer, ...] | str, *, usage: Usage) -> None:
        """Keep a reply at once, safe against a kill of the process."""
        ...

    def spent(self) -> Usage:
        """Return all that was ever paid into this cache."""
        ...


class IndexPlace(Protocol):
    """Where an index lies: a folder, or a prefix in object storage."""

    @property
    def uri(self) -> str:
        """Return the place as LanceDB opens it and users know it."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return what is kept under a name, or None.

        Raises:
            OSError: a file is there that cannot be read.
            StorageUnavailable: the storage cannot be reached or refuses.
        """
        ...

    def write(self, name: str, data: bytes) -> None:
        """Keep data under a name in one step that a crash cannot divide."""
        ...

    def sizes(self) -> dict[str, int]:
        """Return the bytes below each name in the place, those of folders with a slash."""
        ...

    def hold(self, *, wait: bool) -> AbstractContextManager[Callable[[], None]]:
        """Let no other run write until the block ends.

        What the block is given raises IndexLocked when the place is no longer held.

        Raises:
            IndexLocked: another run holds it, and `wait` is off.
        """
        ...
