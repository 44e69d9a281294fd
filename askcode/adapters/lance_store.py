"""Keep an index in one LanceDB table, searched by vectors and by words."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, IvfSq
from lancedb.query import FullTextOperator, MatchQuery

from askcode.adapters import lance_rows
from askcode.adapters.lance_faults import FAULTS, faults_named, is_conflict
from askcode.errors import AskcodeError, IndexDamaged, IndexMissing
from askcode.globbing import path_rule
from askcode.path_codec import encode_path
from askcode.records import Candidate, Filters, IndexedFile, Row, Vectors

# Words come cut and lower-cased by us: the index takes them as they are, however long.
_WORDS = FTS(
    base_tokenizer="whitespace",
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
    max_token_length=None,
    with_position=False,
)
# The two parts of `name:path` in an index of several repositories.
_REPOSITORY = "split_part(path, ':', 1)"
_PATH_BELOW = "substr(path, strpos(path, ':') + 1)"

# One commit names at most this many paths in its condition; a file is never divided.
MAX_PATHS_PER_COMMIT = 1000
COMMIT_TRIES = 5

# Looking at every vector takes 1 ms per thousand; from here on that is too long. On 200,000
# chunks of real code with two vectors each, IVF_SQ with a third of its partitions took
# 7 ms for what took 424 ms; product quantisation found less and took 13 times as long to build.
INDEXED_ROWS = 30_000
ROWS_PER_PARTITION = 400
# On 200,000 generated chunks all partitions take 13.6 ms and lose none of the best 50, four in
# ten take 10.2 ms and lose a tenth of them: only a larger table is worth that.
PARTITIONS_PROBED = 1250
PROBED_SHARE = 0.4
REFINE_FACTOR = 2

Result = TypeVar("Result")


def _allow() -> None:
    """Let a write happen."""


def _at_latest(table: Any) -> Any:
    """Return a table as it is now."""
    table.checkout_latest()
    return table


class LanceStore:
    """A Store in a LanceDB table."""

    def __init__(
        self,
        table: Any,
        *,
        place: str,
        dim: int,
        indexed_rows: int = INDEXED_ROWS,
        before_write: Callable[[], None] = _allow,
        reopen: Callable[[Any], Any] = _at_latest,
    ) -> None:
        self._table = table
        self._reopen = reopen
        self._place = place
        self._dim = dim
        self._indexed_rows = indexed_rows
        self._before_write = before_write

    def files(self) -> dict[str, IndexedFile]:
        """Return what is stored, by path."""
        columns = list(lance_rows.FILE_COLUMNS)
        return lance_rows.to_files(
            self._read(lambda table: table.search().select(columns).limit(None).to_arrow())
        )

    def replace(self, rows: Mapping[str, Sequence[Row]], *, removed: Collection[str] = ()) -> None:
        """Put each path's rows in place of all its old ones and drop removed paths.

        Up to 1,000 paths go in one commit. With more, each commit takes whole files.
        """
        old = [path for path in removed if path not in rows]
        for batch in _batches([*rows, *old], MAX_PATHS_PER_COMMIT):
            self._commit({path: rows[path] for path in batch if rows.get(path)}, batch)

    def nearest(self, query: Vectors, *, k: int, filters: Filters) -> list[Candidate]:
        """Return the k rows most similar to a query of shape (1, dim), best first.

        A query of zeros, of which the model knows no part, is similar to nothing.
        """
        vector = np.asarray(query, np.float32).reshape(-1)
        if not vector.any() or not np.isfinite(vector).all():
            return []
        columns = [*lance_rows.CHUNK_COLUMNS, "_distance"]
        condition = _condition(filters)

        def search(table: Any) -> pa.Table:
            builder = table.search(vector, vector_column_name="vectors").distance_type("cosine")
            partitions = _partitions(table)
            probed = max(ceil(partitions * PROBED_SHARE), min(partitions, PARTITIONS_PROBED))
            # what a filter lets through may lie far from the query, in any partition
            builder = builder.nprobes(partitions if condition else probed)
            builder = builder.refine_factor(REFINE_FACTOR)
            if condition:
                builder = builder.where(condition, prefilter=True)
            return builder.select(columns).limit(k).to_arrow()

        found = self._read(search)
        return lance_rows.to_candidates(found, 1.0 - found["_distance"].to_numpy())

    def matching(self, tokens: Sequence[str], *, k: int, filters: Filters) -> list[Candidate]:
        """Return the k rows that match the tokens best by BM25, best first."""
        words = dict.fromkeys(word for token in tokens for word in token.split())
        if not words:
            return []
        query = MatchQuery(
            lance_rows.clean_text(" ".join(words)), "search_text", operator=FullTextOperator.OR
        )
        columns = [*lance_rows.CHUNK_COLUMNS, "_score"]
        condition = _condition(filters)

        def search(table: Any) -> pa.Table:
            builder = table.search(query)
            if condition:
                builder = builder.where(condition, prefilter=True)
            return builder.select(columns).limit(k).to_arrow()

        found = self._read(search)
        return lance_rows.to_candidates(found, found["_score"].to_numpy())

    def count(self, filters: Filters) -> int:
        """Return how many rows a search would look at."""
        condition = _condition(filters)
        return int(self._read(lambda table: table.count_rows(condition or None)))

    def finish(self) -> list[str]:
        """Bring search structures up to date and drop what old versions left; return warnings."""
        try:
            self._write(self._optimize)
        except AskcodeError as error:
            return [f"the index could not be tidied up: {error}"]
        return []

    def refresh(self) -> None:
        """See what other processes stored since the table was opened.

        Raises:
            IndexDamaged: the table is gone or unreadable.
        """
        with faults_named(self._place):
            self._table.checkout_latest()

    def verify(self) -> None:
        """Read a little through every search structure.

        Raises:
            IndexDamaged: one of them cannot be read.
        """
        self.nearest(np.ones((1, self._dim), np.float32), k=1, filters=Filters())
        self.matching(["the"], k=1, filters=Filters())
        self.files()

    def _commit(self, rows: Mapping[str, Sequence[Row]], paths: Sequence[str]) -> None:
        condition = f"path IN ({_literals(map(encode_path, paths))})"
        if not rows:
            self._write(lambda table: table.delete(condition))
            return
        data = lance_rows.to_table(rows, self._dim)
        self._write(
            lambda table: (
                table.merge_insert("id")
                .when_matched_update_all()
                .when_not_matched_insert_all()
                .when_not_matched_by_source_delete(condition)
                .execute(data)
            )
        )

    def _optimize(self, table: Any) -> None:
        indexed = {column for index in table.list_indices() for column in index.columns}
        if "search_text" not in indexed:
            table.create_index("search_text", config=_WORDS)
        # Everything but the newest version goes; a reader of an older one opens it again. So
        # do files that no version names: the lock keeps writers out, a killed one left them.
        table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
        # last: compaction moves rows, and following them costs more than the index itself
        if "vectors" not in indexed and table.count_rows() >= self._indexed_rows:
            table.create_index("vectors", config=_vector_index(_partitions(table)))

    def _read(self, search: Callable[[Any], Result]) -> Result:
        with faults_named(self._place):
            try:
                return search(self._table)
            except FAULTS:
                # the end of a run elsewhere may have removed what was open
                self._table = self._reopen(self._table)
                return search(self._table)

    def _write(self, change: Callable[[Any], object]) -> None:
        with faults_named(self._place):
            for tried in range(1, COMMIT_TRIES + 1):
                self._before_write()
                try:
                    change(self._table)
                    return
                except FAULTS as error:
                    if tried == COMMIT_TRIES or not is_conflict(error):
                        raise
                    time.sleep(0.05 * 2**tried)
                    self._table.checkout_latest()


@dataclass(frozen=True, slots=True)
class Database:
    """A folder, or a prefix in object storage, with what LanceDB needs to reach it."""

    uri: str
    options: Mapping[str, str] = field(default_factory=dict)
    before_write: Callable[[], None] = _allow
    """Raises where nothing may be written any more."""

    def connect(self) -> Any:
        """Return LanceDB's connection."""
        return lancedb.connect(self.uri, storage_options=dict(self.options) or None)


def create_store(directory: Path | str | Database, *, table: str, dim: int) -> LanceStore:
    """Make an empty table; one of this name that an unfinished run left is replaced.

    Raises:
        UsageError: the directory cannot be written.
    """
    place = _database(directory)
    with faults_named(place.uri):
        database = place.connect()
        # overwriting instead would print the vendor's own warning when there is none
        if table in database.list_tables().tables:
            database.drop_table(table)
        made = database.create_table(table, schema=lance_rows.table_schema(dim))
        made.create_index("search_text", config=_WORDS)
    return LanceStore(made, place=place.uri, dim=dim, before_write=place.before_write)


def open_store(
    directory: Path | str | Database,
    *,
    table: str,
    dim: int,
    name_now: Callable[[], str] | None = None,
) -> LanceStore:
    """Open a table; nothing is written.

    `name_now` returns the table that is the index at the time: another one after a rebuild,
    which reading goes on with.

    Raises:
        IndexMissing: there is no such directory.
        IndexDamaged: the table is missing, unreadable or has other columns.
    """
    place = _database(directory)
    if "://" not in place.uri and not Path(place.uri).is_dir():
        raise IndexMissing(f"there is no index in {place.uri}", hint="make one with: askcode index")
    with faults_named(place.uri):
        opened = place.connect().open_table(table)
        schema = opened.schema
    if not schema.equals(lance_rows.table_schema(dim)):
        raise IndexDamaged(
            f"the table {table} in {place.uri} has other columns than its manifest says",
            hint="run: askcode index --rebuild",
        )

    def reopen(before: Any) -> Any:
        name = name_now() if name_now else table
        return _at_latest(before) if name == before.name else place.connect().open_table(name)

    return LanceStore(
        opened, place=place.uri, dim=dim, before_write=place.before_write, reopen=reopen
    )


def drop_other_tables(directory: Path | str | Database, *, keep: str) -> list[str]:
    """Drop every table but one; return a warning for each that stays."""
    place = _database(directory)
    warnings = []
    with faults_named(place.uri):
        database = place.connect()
        names = [name for name in database.list_tables().tables if name != keep]
    for name in names:
        place.before_write()
        try:
            with faults_named(place.uri):
                database.drop_table(name)
        except AskcodeError as error:
            warnings.append(f"the old table {name} could not be removed: {error}")
    return warnings


def _database(directory: Path | str | Database) -> Database:
    return directory if isinstance(directory, Database) else Database(str(directory))


def _vector_index(partitions: int) -> IvfSq:
    """Return the index to build, trained on few enough vectors to take seconds.

    50,000 chunks with two vectors each: 5 s of processor time instead of 26, recall 0.97.
    """
    return IvfSq(
        distance_type="cosine", num_partitions=partitions, sample_rate=64, max_iterations=15
    )


def _partitions(table: Any) -> int:
    return max(int(table.count_rows()) // ROWS_PER_PARTITION, 1)


def _condition(filters: Filters) -> str:
    """Return the filters in SQL, or nothing."""
    column = _PATH_BELOW if filters.repositories else "path"
    parts = [
        *_path_conditions(_REPOSITORY, filters.repositories),
        *_path_conditions(column, filters.path_globs),
    ]
    if filters.languages:
        languages = _literals(language.lower() for language in filters.languages)
        parts.append(f"lower(language) IN ({languages})")
    return " AND ".join(parts)


def _path_conditions(column: str, globs: Sequence[str]) -> list[str]:
    rule = path_rule([encode_path(glob) for glob in globs])
    parts = []
    if rule.wanted is not None:
        parts.append(f"regexp_like({column}, {_literal(f'^(?:{rule.wanted})$')})")
    if rule.unwanted is not None:
        parts.append(f"NOT regexp_like({column}, {_literal(f'^(?:{rule.unwanted})$')})")
    return parts


def _literals(texts: Iterable[str]) -> str:
    return ", ".join(_literal(text) for text in texts)


def _literal(text: str) -> str:
    """Return a text in single quotes: double ones name a column."""
    return "'" + lance_rows.clean_text(text).replace("'", "''") + "'"


def _batches(paths: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    for start in range(0, len(paths), size):
        yield paths[start : start + size]
