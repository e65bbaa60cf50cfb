"""One session, with Dyno's result and error types."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from psycopg.conninfo import timeout_from_conninfo
from psycopg.sql import Identifier
from psycopg.types.string import TextLoader

from dyno.contracts.target import QueryResult
from dyno.errors import DynoError, TargetError
from dyno.targets.patience import CONNECT_S, Heed, cut_after, keep_alive
from dyno.targets.postgresql.errors import connect_error, statement_error


class _Unpadded(TextLoader):
    """CHAR(n) without PostgreSQL's blank padding, which other engines lack."""

    def load(self, data: Any) -> Any:
        text = super().load(data)
        return text.rstrip(" ") if isinstance(text, str) else text


class PostgresConnection:
    """A session in autocommit, for decision-support and maintenance statements."""

    def __init__(
        self, raw: psycopg.Connection[Any], explain: Callable[[], DynoError | None]
    ) -> None:
        """Wraps a driver connection.

        Args:
            raw: The connection.
            explain: The error to raise instead, if the server's exit is known to be the cause.
        """
        self.raw = raw
        self._explain = explain
        self._stopped = False
        self._heed = Heed()
        raw.adapters.register_loader("bpchar", _Unpadded)

    @classmethod
    def open(
        cls,
        conninfo: dict[str, Any],
        server: str,
        explain: Callable[[], DynoError | None],
        schema: str = "",
        settings: Mapping[str, str] | None = None,
    ) -> PostgresConnection:
        """Connects; unqualified names are looked up in ``schema`` first.

        ``settings`` apply to this session only.

        Raises:
            TargetError: One line with advice.
        """
        parameters: dict[str, Any] = {
            "connect_timeout": CONNECT_S,
            "application_name": "dyno",
            **conninfo,
        }
        try:
            raw = psycopg.connect(**parameters, autocommit=True)
        except psycopg.Error as error:
            host = conninfo.get("host") or conninfo.get("hostaddr") or os.environ.get("PGHOST", "")
            raise explain() or connect_error(error, server, str(host)) from error
        session = cls(raw, explain)
        limit_s = timeout_from_conninfo({"connect_timeout": parameters["connect_timeout"]})
        with cut_after(limit_s, raw.fileno()) as cut:
            try:
                session._prepare(schema, settings or {})
            except BaseException as error:
                session.close()
                if cut.is_set():
                    message = f"{server} accepted the login but did not respond within {limit_s} s."
                    raise explain() or TargetError(message) from error
                raise
        keep_alive(raw.fileno())
        return session

    def execute(self, sql: str) -> QueryResult:
        """Runs one statement to the last row (see the protocol)."""
        self._stopped = False
        self._heed.begin()
        try:
            with self.raw.cursor() as cursor:
                # psycopg would prepare it from the sixth execution on, without replanning.
                cursor.execute(sql.encode(), prepare=False)
                while cursor.nextset():
                    pass
                if cursor.description is None:
                    return QueryResult([], [])
                return QueryResult(
                    [column.name for column in cursor.description], cursor.fetchall()
                )
        except psycopg.Error as error:
            raise self.error(error) from error
        finally:
            self._heed.end()

    def error(self, error: psycopg.Error) -> DynoError:
        """Converts a driver exception of this session."""
        lost = self.raw.closed
        classed = statement_error(error, lost=lost, stopped=self._stopped)
        if lost or classed.kind == "connection_lost":
            return self._explain() or classed
        return classed

    def cancel(self) -> None:
        """Asks the server to stop the running statement."""
        self._stopped = True
        with contextlib.suppress(psycopg.Error, OSError):
            self._heed.cancelled(self.raw.fileno())
            self.raw.cancel_safe(timeout=5)

    def close(self) -> None:
        """Ends the session."""
        with contextlib.suppress(psycopg.Error, OSError):
            self.raw.close()

    def _prepare(self, schema: str, settings: Mapping[str, str]) -> None:
        try:
            self.raw.execute("SELECT set_config('TimeZone', 'UTC', false)")
            for name, value in settings.items():
                self.raw.execute("SELECT set_config(%s, %s, false)", [name, value])
            if schema:
                path = Identifier(schema).as_string(self.raw)
                self.raw.execute("SELECT set_config('search_path', %s, false)", [path])
        except psycopg.Error as error:
            raise self.error(error) from error
