"""See the files of one repository in the store of several as if they were alone there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from askcode.protocols import Store
from askcode.records import Candidate, Filters, IndexedFile, Row, Vectors
from askcode.repositories import full_path


@dataclass(frozen=True, slots=True)
class NamedStore:
    """A Store of one repository's files, by their paths below its root."""

    store: Store
    name: str
    known: Mapping[str, IndexedFile]
    """The repository's files as the run finds them, by path: read once for all repositories."""

    def files(self) -> dict[str, IndexedFile]:
        """Return what was stored of this repository when the run began, by path."""
        return dict(self.known)

    def replace(self, rows: Mapping[str, Sequence[Row]], *, removed: Collection[str] = ()) -> None:
        """Put each path's rows in place of all its old ones and drop removed paths."""
        self.store.replace(
            {
                full_path(self.name, path): [self._named(row) for row in of_file]
                for path, of_file in rows.items()
            },
            removed=[full_path(self.name, path) for path in removed],
        )

    def nearest(self, query: Vectors, *, k: int, filters: Filters) -> list[Candidate]:
        """Return the k rows of this repository most similar to a query."""
        return self.store.nearest(query, k=k, filters=self._only(filters))

    def matching(self, tokens: Sequence[str], *, k: int, filters: Filters) -> list[Candidate]:
        """Return the k rows of this repository that match the tokens best."""
        return self.store.matching(tokens, k=k, filters=self._only(filters))

    def count(self, filters: Filters) -> int:
        """Return how many rows of this repository a search would look at."""
        return self.store.count(self._only(filters))

    def verify(self) -> None:
        """Do nothing: the whole store is looked at when it is opened."""

    def finish(self) -> list[str]:
        """Do nothing: the whole store is brought up to date once, after all repositories."""
        return []

    def _named(self, row: Row) -> Row:
        return replace(row, chunk=replace(row.chunk, path=full_path(self.name, row.chunk.path)))

    def _only(self, filters: Filters) -> Filters:
        return replace(filters, repositories=(self.name,))
