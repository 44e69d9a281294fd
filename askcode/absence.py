"""Stand in for an index that was not made yet: it holds nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from askcode.errors import UsageError
from askcode.records import Candidate, Filters, IndexedFile, QuestionAnswer, Row, Usage, Vectors


class NoStore:
    """An index that was not made yet: it holds nothing, and nothing can be put in."""

    def files(self) -> dict[str, IndexedFile]:
        """Return nothing."""
        return {}

    def replace(self, rows: Mapping[str, Sequence[Row]], *, removed: Collection[str] = ()) -> None:
        """Refuse to keep anything."""
        raise UsageError("there is no index to write to")

    def nearest(self, query: Vectors, *, k: int, filters: Filters) -> list[Candidate]:
        """Return nothing."""
        return []

    def matching(self, tokens: Sequence[str], *, k: int, filters: Filters) -> list[Candidate]:
        """Return nothing."""
        return []

    def count(self, filters: Filters) -> int:
        """Return nothing."""
        return 0

    def verify(self) -> None:
        """Find nothing wrong with nothing."""

    def finish(self) -> list[str]:
        """Do nothing."""
        return []


class NoCache:
    """A cache of descriptions in a place that was not made yet."""

    def get(self, keys: Collection[str]) -> dict[str, tuple[QuestionAnswer, ...] | str]:
        """Return nothing."""
        return {}

    def put(self, key: str, value: tuple[QuestionAnswer, ...] | str, *, usage: Usage) -> None:
        """Keep nothing: without an index there is no run that pays."""

    def spent(self) -> Usage:
        """Return that nothing was spent."""
        return Usage()
