"""One session in the chdb process."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pyarrow as pa

from dyno.contracts.target import QueryResult
from dyno.errors import TargetError
from dyno.targets.clickhouse import child
from dyno.targets.clickhouse.engine import Engine
from dyno.targets.clickhouse.errors import statement_error

_POLL_S = 1.0
_HEED_S = 30.0
"""Seconds from a cancellation until Dyno kills the engine."""


class ClickhouseConnection:
    """A session; several can run concurrently."""

    def __init__(self, engine: Engine, rows: int | None = None) -> None:
        """Opens the session.

        Args:
            engine: The process.
            rows: The read end of the pipe for ``insert``.

        Raises:
            TargetError: If the engine has exited.
        """
        self._engine = engine
        self._number, self._channel = engine.session(rows)
        self.comment = child.comment(self._number)
        self._statement = 0
        self._cancelled_at: float | None = None

    def setup(self, sql: str) -> None:
        """Runs a statement (``SET``, ``USE``) that affects the whole session."""
        self._begin("setup", sql)
        self._receive()

    def execute(self, sql: str) -> QueryResult:
        """Runs one statement to the last row (see the protocol)."""
        self._begin("execute", sql)
        return _result(self._receive())

    def insert(self, sql: str) -> None:
        """Starts an ``INSERT`` of the rows from the pipe; ``end`` completes it."""
        self._begin("insert", sql)

    def end(self, *, commit: bool) -> int:
        """Completes an insert after the pipe is closed; returns the number of rows.

        Raises:
            DatabaseError, TargetError: The error of ClickHouse.
        """
        self._send("commit" if commit else "cancel", "")
        return int(self._receive())

    def cancel(self) -> None:
        """Stops the running statement."""
        self._cancelled_at = self._cancelled_at or time.monotonic()
        self._engine.cancel(self._number, self._statement)

    def close(self) -> None:
        """Ends the session."""
        with contextlib.suppress(OSError):
            self._channel.close()

    def _begin(self, word: str, sql: str) -> None:
        self._cancelled_at = None
        self._statement += 1
        self._send(word, sql)

    def _send(self, word: str, sql: str) -> None:
        try:
            self._channel.send((word, sql, self._statement))
        except OSError as error:
            raise self._engine.lost() from error

    def _receive(self) -> Any:
        try:
            while not self._channel.poll(_POLL_S):
                since = self._cancelled_at
                if since is not None and time.monotonic() - since > _HEED_S:
                    self._engine.kill()
            word, payload = self._channel.recv()
        except (EOFError, OSError) as error:
            raise self._engine.lost() from error
        if word == "error":
            raise statement_error(payload)
        return payload


def _result(stream: bytes) -> QueryResult:
    """Converts an Arrow stream to rows of Python values."""
    if not stream:
        return QueryResult([], [])
    try:
        source = pa.BufferReader(stream)
        table = pa.ipc.open_stream(source).read_all()
    except pa.ArrowInvalid as error:
        raise TargetError(
            f"ClickHouse returned an unreadable result: {error}.", kind="io"
        ) from error
    if source.tell() != len(stream):
        raise TargetError("ClickHouse returned more than one result.", kind="io")
    columns = [_values(table.column(index)) for index in range(table.num_columns)]
    return QueryResult(table.column_names, list(zip(*columns, strict=True)))


def _values(column: Any) -> list[Any]:
    if pa.types.is_timestamp(column.type):  # stored in UTC, but has no time zone
        column = column.cast(pa.timestamp("us"))
    return column.to_pylist()
