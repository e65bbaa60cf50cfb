"""One session, with Dyno's result and error types."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pymysql

from dyno.contracts.target import QueryResult
from dyno.errors import DynoError, error_of_kind
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.errors import connect_error, statement_error
from dyno.targets.mysql.handshake import GARBLED
from dyno.targets.mysql.key import KeyedConnection
from dyno.targets.mysql.settings import session_settings
from dyno.targets.mysql.version import Version
from dyno.targets.patience import Heed


class MysqlConnection:
    """A session in autocommit, for decision-support and maintenance statements.

    Attributes:
        version: The server's version.
        number: The server's number of the session.
        statements: How many statements were sent by :meth:`execute`.
    """

    def __init__(
        self,
        raw: Any,
        address: Address,
        explain: Callable[[], DynoError | None],
        begins: str = "",
    ) -> None:
        """Wraps a driver connection.

        Args:
            raw: The connection.
            address: Its address, for a second connection that cancels its statements.
            explain: The error to raise instead, if the server's exit is known to be the cause.
            begins: What each of its statements begins with: a comment.
        """
        self.raw = raw
        self.version = Version.parse(raw.get_server_info())
        self.number = int(raw.thread_id())
        self.statements = 0
        self._address = address
        self._explain = explain
        self._begins = begins
        self._lock = threading.Lock()
        self._busy = False
        self._cancelled = False
        self._heed = Heed()

    @classmethod
    def open(
        cls,
        address: Address,
        explain: Callable[[], DynoError | None],
        database: str = "",
        variables: Mapping[str, str] | None = None,
        begins: str = "",
    ) -> MysqlConnection:
        """Connects; unqualified table names mean those of ``database``, if it exists.

        Args:
            address: The server.
            explain: See the class.
            database: The database; that of the address if empty.
            variables: Session variables and their integer values.
            begins: See the class.

        Raises:
            TargetError: One line with advice, also for a server that is too old.
        """
        session = cls(_connect(address, explain), address, explain, begins)
        try:
            session.version.require(address.server)
            for statement in session_settings(session.version):
                session.execute(statement)
            for name, value in (variables or {}).items():
                session.execute(f"SET SESSION {name} = {int(value)}")
            if database:
                session._use(database)
            elif address.database:
                session._use(address.database)
            session.raw.settle()
        except GARBLED as error:
            session.close()
            raise session.raw.foreign() from error
        except BaseException:
            session.close()
            raise
        return session

    def execute(self, sql: str, needs: str = "") -> QueryResult:
        """Runs one statement to the last row (see the protocol).

        Args:
            sql: The statement.
            needs: Required privileges in addition to :data:`errors.PRIVILEGES`, as ``, EXECUTE``:
                the server's error may not name them.
        """
        with self._lock:
            self._busy, self._cancelled = True, False
            self._heed.begin()
        self.statements += 1
        try:
            result = self._run(sql)
        except pymysql.Error as error:
            raise self._error(error, needs) from error
        finally:
            # Waits for a pending cancellation, which must not hit the next statement.
            with self._lock:
                self._busy = False
                if self._cancelled:
                    self._absorb()
            self._heed.end()
        if self._cancelled:
            # Some functions (BENCHMARK, SLEEP) react to a kill with a value instead of an error.
            raise error_of_kind("timeout", "The statement was cancelled.")
        return result

    def cancel(self) -> None:
        """Asks the server to stop the running statement, from a second connection."""
        with self._lock:
            if not self._busy or self._cancelled:
                return
            self._cancelled = True
            with contextlib.suppress(pymysql.Error, OSError, DynoError):
                if (ours := self.raw._sock) is not None:  # else it is lost already
                    self._heed.cancelled(ours.fileno())
                other = _connect(self._address, lambda: None)
                try:
                    with other.cursor() as cursor:
                        cursor.execute(f"KILL QUERY {self.number}")
                finally:
                    other.close()

    def close(self) -> None:
        """Ends the session."""
        with contextlib.suppress(pymysql.Error, OSError):
            self.raw.close()

    def _run(self, sql: str) -> QueryResult:
        with self.raw.cursor() as cursor:
            cursor.execute(f"{self._begins}{sql}")
            if cursor.description is None:
                return QueryResult([], [])
            names = [str(column[0]) for column in cursor.description]
            return QueryResult(names, list(cursor.fetchall()))

    def _absorb(self) -> None:
        # A kill that arrives after the end of its statement would stop the next one.
        with contextlib.suppress(pymysql.Error, OSError), self.raw.cursor() as cursor:
            cursor.execute("DO 0")

    def _use(self, database: str) -> None:
        try:
            self.raw.select_db(database)
        except pymysql.Error as error:
            raise self._error(error) from error

    def account(self) -> str:
        """The account of this session in SQL, according to the server; empty if unknown."""
        with contextlib.suppress(pymysql.Error, OSError), self.raw.cursor() as cursor:
            cursor.execute(f"{self._begins}SELECT CURRENT_USER()")
            user, _, host = str(cursor.fetchall()[0][0]).rpartition("@")
            return f"{literal(user)}@{literal(host)}"
        return ""

    def _error(self, error: pymysql.Error, needs: str = "") -> DynoError:
        classed = statement_error(error, self.account, needs)
        if classed.kind == "connection_lost":
            return self._explain() or classed
        return classed


def quoted(name: str) -> str:
    """A quoted identifier with any characters."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A string literal, for sessions with backslash escapes, as Dyno's have."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _connect(address: Address, explain: Callable[[], DynoError | None]) -> Any:
    try:
        return KeyedConnection(
            server_key=address.server_key,
            key_retrieval=address.key_retrieval,
            **address.driver(),
            charset="utf8mb4",
            autocommit=True,
            server=address.server,
            limit_s=address.connect_timeout,
            program_name="dyno",
        )
    except DynoError as error:
        raise explain() or error from error
    except (pymysql.Error, OSError, RuntimeError, ValueError) as error:
        host = address.unix_socket or address.host
        plain = not address.unix_socket and address.tls is None
        raise explain() or connect_error(error, address.server, host, plain=plain) from error
