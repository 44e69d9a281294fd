"""Keep descriptions in one SQLite file: every paid reply is there after a kill."""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from askcode.errors import AskcodeError
from askcode.records import QuestionAnswer, Usage

Value = tuple[QuestionAnswer, ...] | str
_T = TypeVar("_T")

KEYS_PER_QUERY = 500
"""Below the 999 variables of old SQLite builds."""
BUSY_TIMEOUT_S = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS descriptions (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
    day TEXT PRIMARY KEY, calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL
);
"""
_PUT = (
    "INSERT INTO descriptions VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
_SPEND = """INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT (day) DO UPDATE SET
calls = calls + excluded.calls, input_tokens = input_tokens + excluded.input_tokens,
output_tokens = output_tokens + excluded.output_tokens"""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NOT_WRITABLE = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR}
)


class SqliteDescriptionCache:
    """A DescriptionCache in a file; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._warnings: list[str] = []

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._path

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what had to be worked around so far, one sentence each."""
        return tuple(self._warnings)

    def get(self, keys: Collection[str]) -> dict[str, Value]:
        """Return what is known, by key; works in a read-only directory."""
        wanted = list(dict.fromkeys(keys))
        if not wanted:
            return {}
        rows = self._with_connection(lambda connection: list(_rows(connection, wanted)))
        decoded = {key: _decoded(text) for key, text in rows}
        return {key: value for key, value in decoded.items() if value is not None}

    def put(self, key: str, value: Value, *, usage: Usage) -> None:
        """Keep a reply and what it cost in one step.

        Raises:
            AskcodeError: the file cannot be written.
        """
        text = _encoded(value)
        cost = (date.today().isoformat(), usage.calls, usage.input_tokens, usage.output_tokens)

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_PUT, (key, text))
                if usage != Usage():
                    connection.execute(_SPEND, cost)

        self._with_connection(write)

    def spent(self) -> Usage:
        """Return all that was ever paid into this file."""
        return sum(self.spent_by_day().values(), Usage())

    def spent_by_day(self) -> dict[str, Usage]:
        """Return what was paid on each day, by local date."""
        query = "SELECT day, calls, input_tokens, output_tokens FROM spent ORDER BY day"
        rows = self._with_connection(lambda connection: connection.execute(query).fetchall())
        return {day: Usage(*counts) for day, *counts in rows}

    def close(self) -> None:
        """Write the log back into the file and let go of it."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _with_connection(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock:
            try:
                return work(self._opened())
            except sqlite3.DatabaseError as error:
                if _code(error) not in _DAMAGED:
                    raise self._failure(error) from error
                self._set_aside(error)
            return work(self._opened())

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = self._open_to_write()
            except sqlite3.OperationalError as error:
                if _code(error) not in _NOT_WRITABLE or not self._path.is_file():
                    raise
                self._connection = self._open_to_read()
            # closed with this object, at the latest at exit: the log goes back into the file
            weakref.finalize(self, self._connection.close)
        return self._connection

    def _open_to_write(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # what is in the log survives a kill of the process; only a power cut could lose
            # the last replies, and none could damage the file
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        """Open without the files that SQLite keeps beside a database for its readers."""
        connection = sqlite3.connect(
            f"file:{quote(str(self._path.absolute()))}?immutable=1",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Rename a damaged file, so that nothing paid for is deleted and the run goes on."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None
        aside = self._free_name()
        try:
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    Path(f"{self._path}{suffix}").rename(f"{aside}{suffix}")
            self._warnings.append(
                f"{self._path} is damaged ({error}); it was renamed to {aside.name}, "
                "and questions are asked anew"
            )
        except OSError:
            self._connection = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, self._connection.close)
            self._connection.executescript(_SCHEMA)
            self._warnings.append(f"{self._path} is damaged ({error}) and was not read")

    def _free_name(self) -> Path:
        number = 1
        while (path := Path(f"{self._path}.damaged-{number}")).exists():
            number += 1
        return path

    def _failure(self, error: sqlite3.DatabaseError) -> AskcodeError:
        code = _code(error)
        if code == sqlite3.SQLITE_FULL:
            return AskcodeError(f"no space left on device: {self._path}", hint="make room")
        if code in _NOT_WRITABLE:
            return AskcodeError(f"cannot write {self._path}: {error}", hint="use --index-dir")
        return AskcodeError(f"cannot use {self._path}: {error}", hint="try again")


def _rows(connection: sqlite3.Connection, keys: list[str]) -> Iterator[tuple[str, str]]:
    for start in range(0, len(keys), KEYS_PER_QUERY):
        batch = keys[start : start + KEYS_PER_QUERY]
        marks = ",".join("?" * len(batch))
        query = f"SELECT key, value FROM descriptions WHERE key IN ({marks})"
        yield from connection.execute(query, batch)


def _code(error: sqlite3.Error) -> int:
    """Return the primary result code: the low byte of an extended one."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _encoded(value: Value) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    return json.dumps([[pair.question, pair.answer] for pair in value])


def _decoded(text: str) -> Value | None:
    try:
        value = json.loads(text)
        if isinstance(value, str):
            return value
        return tuple(QuestionAnswer(str(question), str(answer)) for question, answer in value)
    except (ValueError, TypeError):
        return None
