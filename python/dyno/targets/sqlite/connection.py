"""One session on a database file."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

from dyno.contracts.target import QueryResult
from dyno.errors import TargetError
from dyno.targets.sqlite.errors import classed


class SqliteConnection:
    """A connection to the file.

    Values have SQLite's types: int, float, str or None. SQLite has no dates: they are ISO 8601
    text,
    which the comparison of answers recognizes.
    """

    lists_once = True
    """See :class:`dyno.contracts.target.Listing`."""

    def __init__(
        self, raw: sqlite3.Connection, file: Path, closed: Callable[[SqliteConnection], None]
    ) -> None:
        self.raw = raw
        self._file = file
        self._closed = closed

    def execute(self, sql: str) -> QueryResult:
        """Runs one statement to the last row (see the protocol)."""
        try:
            with contextlib.closing(self.raw.execute(sql)) as cursor:
                columns = [str(column[0]) for column in cursor.description or ()]
                return QueryResult(columns, cursor.fetchall())
        except MemoryError as error:
            message = "SQLite: out of memory."
            raise TargetError(message, kind="out_of_memory") from error
        except sqlite3.Error as error:
            raise classed(error, self._file) from error

    def cancel(self) -> None:
        """Stops the running statement."""
        with contextlib.suppress(sqlite3.Error):
            self.raw.interrupt()

    def close(self) -> None:
        """Closes the session; uncommitted changes are rolled back."""
        with contextlib.suppress(sqlite3.Error):
            self.raw.close()
        self._closed(self)
