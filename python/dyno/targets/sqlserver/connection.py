"""One session, with Dyno's result and error types.

The driver library blocks in one call until the first rows arrive, and only the calling thread may
cancel. So the wait is here: the library calls :func:`_wait` with its socket, which also waits for
a cancellation.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pymssql
from pymssql import _mssql  # pyright: ignore[reportPrivateUsage]  (it is public)

from dyno.contracts.target import QueryResult
from dyno.errors import DynoError, error_of_kind
from dyno.targets.patience import HEED_S, keep_alive
from dyno.targets.sqlserver import queries
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.errors import Message, statement_error
from dyno.targets.sqlserver.login import PROGRAM, connect
from dyno.targets.sqlserver.version import QUERY, Version

SETTINGS = (
    "SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, "
    "QUOTED_IDENTIFIER ON",
    "SET NUMERIC_ROUNDABORT OFF",
    "SET XACT_ABORT OFF",
    "SET NOCOUNT ON",
    "SET TEXTSIZE 2147483647",
)
"""Indexed views and indexes on computed columns need the first two."""

_ROWS = 1000

_running = threading.local()


class _Cancelled(Exception):  # noqa: N818  (the library passes it through)
    """A statement was cancelled while it waited."""


class Session:
    """A session in autocommit, for decision-support and maintenance statements.

    Attributes:
        version: The server's version.
        number: The server's number of the session (``@@SPID``).
        statements: How many statements were sent by :meth:`execute`.
        messages: What the server said beside rows about the last statement, in order.
        user: The login in the URL.
    """

    version: Version
    number: int
    user: str

    def __init__(
        self, raw: Any, address: Address, explain: Callable[[], DynoError | None] = lambda: None
    ) -> None:
        """Wraps a driver connection.

        Args:
            raw: The connection.
            address: Its address.
            explain: The error to raise instead, if the server's exit is known to be the cause.
        """
        self.raw = raw
        self.statements = 0
        self.messages: list[Message] = []
        raw._conn.set_msghandler(_collector(self.messages))
        self.user = address.user
        self._address = address
        self._explain = explain
        self._lock = threading.Lock()
        self._busy = False
        self._cancelled = False
        self._socket: socket.socket | None = None
        self._wake, self._waker = os.pipe()
        self._cut: threading.Timer | None = None

    @classmethod
    def open(
        cls,
        address: Address,
        explain: Callable[[], DynoError | None] = lambda: None,
        database: str = "",
        settings: Sequence[str] = (),
        program: str = PROGRAM,
    ) -> Session:
        """Connects; unqualified table names mean those of ``database``, if it exists.

        Args:
            address: The server.
            explain: See the class.
            database: The database; that of the address if empty.
            settings: More statements that set up the session.
            program: Its application name.

        Raises:
            TargetError: One line with advice, also for a server that is too old.
        """
        session = cls(connect(address, program=program), address, explain)
        try:
            session.execute("; ".join((*SETTINGS, *settings)))
            row = session.execute(f"{QUERY}, @@SPID").rows[0]
            session.version = Version.parse(*row[:4])
            session.number = int(row[4])
            session.version.require(address.server)
            if database:
                session.execute(f"USE {quoted(database)}")
        except BaseException:
            session.close()
            raise
        return session

    def execute(self, sql: str, needs: str = "") -> QueryResult:
        """Runs one statement or batch to the last row (see the protocol).

        Args:
            sql: The statement. ``BEGIN`` alone begins a transaction, as in other databases.
            needs: A ``GRANT`` that the statement needs, if the server's error may not name it.

        Returns:
            The last result that has columns.
        """
        return self.results(sql, needs)[-1]

    def results(self, sql: str, needs: str = "") -> list[QueryResult]:
        """As :meth:`execute`, with every result that has columns; an empty one if none has."""
        if sql.strip().rstrip(";").upper() == "BEGIN":
            sql = "BEGIN TRANSACTION"
        with self._lock:
            self._busy, self._cancelled = True, False
        self.statements += 1
        self.messages.clear()
        try:
            found = self._run(sql)
        except _Cancelled as error:
            raise error_of_kind("timeout", "The statement was cancelled.") from error
        except (pymssql.Error, _mssql.MSSQLException) as error:
            if self._cancelled:
                raise error_of_kind("timeout", "The statement was cancelled.") from error
            raise self._error(error, needs) from error
        finally:
            with self._lock:
                self._busy = False
                if self._cancelled:
                    self._absorb()
        return found or [QueryResult([], [])]

    def own(self, neutral: str) -> str:
        """A neutral statement in T-SQL (see ``contracts.target.Translating``)."""
        return queries.own(neutral)

    def cancel(self) -> None:
        """Stops the running statement. Thread-safe; does nothing between statements.

        Babelfish ignores the signal while it computes, so there the session ends.
        """
        with self._lock:
            if not self._busy or self._cancelled:
                return
            self._cancelled = True
            os.write(self._waker, b"x")
            if self.version.is_babelfish:
                self._kill()
                return
            self._cut = threading.Timer(HEED_S, self._shut)
            self._cut.daemon = True
            self._cut.start()

    def close(self) -> None:
        """Ends the session."""
        with contextlib.suppress(pymssql.Error, _mssql.MSSQLException, OSError):
            self.raw.close()
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None
            for descriptor in (self._wake, self._waker):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
            self._wake = self._waker = -1

    def account(self) -> str:
        """The login of this session, quoted; empty if unknown."""
        with contextlib.suppress(DynoError):
            return quoted(str(self.execute("SELECT SUSER_SNAME()").rows[0][0]))
        return ""

    def wait(self, descriptor: int) -> None:
        """Waits for the server's answer, or for a cancellation.

        Raises:
            _Cancelled: After the server has confirmed the cancellation.
        """
        if self._socket is None:
            keep_alive(descriptor)
            self._socket = socket.socket(fileno=os.dup(descriptor))
        poll = select.poll()
        for one in (descriptor, self._wake):
            poll.register(one, select.POLLIN)
        if any(one == self._wake for one, _ in poll.poll()):
            self._attention()
            raise _Cancelled

    def _kill(self) -> None:
        with contextlib.suppress(DynoError, pymssql.Error, _mssql.MSSQLException):
            other = connect(self._address)
            try:
                with other.cursor() as cursor:
                    cursor.execute(f"KILL {self.number}")
            finally:
                other.close()

    def _attention(self) -> None:
        with contextlib.suppress(pymssql.Error, _mssql.MSSQLException):
            self.raw._conn.cancel()

    def _run(self, sql: str) -> list[QueryResult]:
        _running.session = self
        try:
            with self.raw.cursor() as cursor:
                cursor.execute(sql)
                found: list[QueryResult] = []
                while True:
                    if cursor.description is not None:
                        found.append(self._rows(cursor))
                    if not cursor.nextset():
                        return found
        finally:
            _running.session = None

    def _rows(self, cursor: Any) -> QueryResult:
        names = [str(column[0]) for column in cursor.description]
        rows: list[tuple[Any, ...]] = []
        while True:
            batch = cursor.fetchmany(_ROWS)
            rows += batch
            if self._cancelled:
                self._attention()
                raise _Cancelled
            if len(batch) < _ROWS:  # one more call would begin the next result
                return QueryResult(names, rows)

    def _absorb(self) -> None:
        """Forgets a cancellation, so that it does not stop the next statement."""
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
        if self._wake >= 0 and select.select([self._wake], [], [], 0)[0]:
            os.read(self._wake, 1)

    def _shut(self) -> None:
        with self._lock:
            if self._busy and self._cancelled and self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def _error(self, error: Exception, needs: str) -> DynoError:
        classed = statement_error(error, self._address.user, needs, self.messages)
        if classed.kind == "connection_lost":
            return self._explain() or classed
        return classed


def _collector(
    messages: list[Message],
) -> Callable[[int, int, bytes, bytes, int, bytes], object]:
    """Collects messages; it must not refer to the session, which would never be freed."""

    def collect(
        _state: int, severity: int, _server: bytes, _procedure: bytes, _line: int, text: bytes
    ) -> None:
        messages.append(Message(severity, text.decode(errors="replace")))

    return collect


def quoted(name: str) -> str:
    """A quoted identifier with any characters."""
    return "[" + name.replace("]", "]]") + "]"


def literal(text: str) -> str:
    """A Unicode string literal."""
    return "N'" + text.replace("'", "''") + "'"


def _wait(descriptor: int) -> None:
    session: Session | None = getattr(_running, "session", None)
    if session is not None:
        session.wait(descriptor)


pymssql.set_wait_callback(_wait)
