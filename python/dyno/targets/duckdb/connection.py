"""One session on an open database file."""

from __future__ import annotations

import contextlib

import duckdb

from dyno.contracts.target import QueryResult
from dyno.targets.duckdb.errors import statement_error

_SIGNALLED = "Query interrupted"


class DuckdbConnection:
    """A session in the process that has the file open."""

    def __init__(self, raw: duckdb.DuckDBPyConnection) -> None:
        self.raw = raw

    def execute(self, sql: str) -> QueryResult:
        """Runs one statement to the last row (see the protocol)."""
        try:
            self.raw.execute(sql)
            columns = [str(column[0]) for column in self.raw.description or ()]
            return QueryResult(columns, self.raw.fetchall() if columns else [])
        except duckdb.Error as error:
            raise statement_error(error) from error
        except RuntimeError as error:
            # In the main thread, DuckDB runs the signal handlers itself and replaces their
            # exceptions
            # by its own.
            if str(error) == _SIGNALLED:
                raise KeyboardInterrupt from error
            raise

    def cancel(self) -> None:
        """Stops the running statement."""
        with contextlib.suppress(duckdb.Error):
            self.raw.interrupt()

    def close(self) -> None:
        """Ends the session."""
        with contextlib.suppress(duckdb.Error):
            self.raw.close()
