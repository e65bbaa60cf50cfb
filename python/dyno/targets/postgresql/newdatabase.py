"""New databases of PostgreSQL: ``CREATE DATABASE`` copies a template of known size."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Callable

from psycopg import sql

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run

Open = Callable[..., PostgresConnection]
"""Opens a session; ``dbname`` is its database."""

TEMPLATE, COPY = "dyno_template", "dyno_copy"
MARK = f"{mark.PREFIX}create-database"
ROWS = 1 << 18
ROW_BYTES = 1 << 10
"""Rows of the template, eight on a page of 8 KiB: 256 MiB."""
_CHOICE = 150000
"""The oldest version with a choice of strategies; older ones copy files."""
_ALLOWED = "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
_FILL = (
    "CREATE TABLE filler AS SELECT id, repeat(md5(id::text), 28) AS text "
    "FROM generate_series(1, {}) AS id"
)
NEEDED = 1 << 30
"""Free bytes that a private server must have: template, copy, and both in the log."""


def new_database(opened: Open) -> NewDatabase | str:
    """The task, or the reason why it is impossible."""
    with contextlib.closing(opened()) as session:
        if not session.execute(_ALLOWED).rows[0][0]:
            return "this user may not create databases (ALTER ROLE … CREATEDB)"
        foreign = set(_databases(session)) - set(left(session))
        if foreign:
            return (
                f"the server has a database {min(foreign)} without Dyno's mark; drop it if a "
                "killed run left it"
            )
    return NewDatabase(opened)


def _databases(session: PostgresConnection) -> dict[str, str]:
    """Comments of the databases with the names of the task."""
    query = sql.SQL(
        "SELECT datname, coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database "
        "WHERE datname IN ({}, {})"
    ).format(sql.Literal(TEMPLATE), sql.Literal(COPY))
    return {str(name): str(comment) for name, comment in run(session, [query])}


def left(session: PostgresConnection) -> list[str]:
    """The marked databases of a running or killed task."""
    return sorted(name for name, comment in _databases(session).items() if comment == MARK)


def sweep(session: PostgresConnection) -> list[str]:
    """Drops them; returns their names."""
    found = left(session)
    for name in found:
        _drop(session, name)
    return found


def _drop(session: PostgresConnection, name: str) -> None:
    # A copy is an ordinary database: sessions, such as autovacuum's, may use it.
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    run(session, [statement.format(sql.Identifier(name))])


class NewDatabase:
    """Implements the protocol. One round makes a copy by each strategy, and drops it."""

    def __init__(self, opened: Open) -> None:
        self._open = opened
        self._seconds: dict[str, list[float]] = {}
        self._session: PostgresConnection = opened()
        chosen = self._session.raw.info.server_version >= _CHOICE
        self._strategies = ("wal_log", "file_copy") if chosen else ("file_copy",)
        self._made = 0
        """Bytes of the template; 0 before it is made."""

    def prepare(self) -> None:
        """Makes the template."""
        sweep(self._session)
        self._made = self._template()

    @property
    def _size(self) -> int:
        return self._made or ROWS * ROW_BYTES

    @property
    def method(self) -> str:
        """The method, as text."""
        return (
            f"CREATE DATABASE from a template of {self._size / 1e6:,.0f} MB: "
            f"{' and '.join(self._strategies)}, each dropped again. wal_log writes the copy to the "
            "write-ahead log; file_copy copies and syncs files between two checkpoints"
        )

    @property
    def estimate(self) -> SpaceEstimate:
        """The template and one copy."""
        return SpaceEstimate(
            2 * self._size, "the template and one copy of it; wal_log needs the same in the log"
        )

    @property
    def step_seconds(self) -> dict[str, float]:
        """Median seconds by strategy."""
        return {name: statistics.median(times) for name, times in self._seconds.items()}

    @property
    def step_bytes(self) -> dict[str, int]:
        """Bytes of a copy by strategy."""
        return dict.fromkeys(self._seconds, self._size)

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Makes a copy by each strategy."""
        checks: list[Check] = []
        for number, strategy in enumerate(self._strategies):
            progress(number, len(self._strategies), f"create database by {strategy}")
            if stop.is_set():
                raise Interrupted("The creation of a database was stopped.")
            try:
                checks.append(self._copy(strategy))
            except DynoError as error:
                if stop.is_set():
                    raise Interrupted("The creation of a database was stopped.") from error
                raise
        progress(len(self._strategies), len(self._strategies), "")
        return checks

    def space(self) -> int | None:
        """None: the space is the estimate's, and is not sampled."""
        return None

    def cancel(self) -> None:
        """See the protocol."""
        self._session.cancel()

    def close(self) -> None:
        """Drops the databases, and ends the session."""
        self._session.close()
        # The working session may still be busy, or broken.
        with contextlib.suppress(DynoError), contextlib.closing(self._open()) as session:
            session.execute("SET statement_timeout = '30s'")
            sweep(session)

    def _template(self) -> int:
        """Makes the template; returns its bytes."""
        self._create(TEMPLATE, sql.SQL("TEMPLATE template0"))
        with contextlib.closing(self._open(dbname=TEMPLATE)) as session:
            session.execute(_FILL.format(ROWS))
            session.execute("VACUUM (FREEZE, ANALYZE) filler")
            with contextlib.suppress(DynoError):  # a right that not every user has
                session.execute("CHECKPOINT")
        # No session may use a template while it is copied.
        alter = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false")
        run(self._session, [alter.format(sql.Identifier(TEMPLATE))])
        size = sql.SQL("SELECT pg_database_size({})").format(sql.Literal(TEMPLATE))
        return int(run(self._session, [size])[0][0])

    def _copy(self, strategy: str) -> Check:
        how = sql.SQL("TEMPLATE {}").format(sql.Identifier(TEMPLATE))
        if len(self._strategies) > 1:
            how += sql.SQL(" STRATEGY {}").format(sql.Identifier(strategy.lower()))
        self._seconds.setdefault(strategy, []).append(self._create(COPY, how))
        with contextlib.closing(self._open(dbname=COPY)) as session:
            rows = int(session.execute("SELECT count(*) FROM filler").rows[0][0])
        _drop(self._session, COPY)
        passed, message = rows == ROWS, f"{rows:,} of {ROWS:,} rows in the copy"
        name = f"create-database {strategy}"
        return Check(name=name, target="postgresql", passed=passed, message=message)

    def _create(self, name: str, how: sql.Composable) -> float:
        """Creates and marks a database; returns the seconds of its creation."""
        statement = sql.SQL("CREATE DATABASE {} {}").format(sql.Identifier(name), how)
        start = time.monotonic()
        run(self._session, [statement])
        took = time.monotonic() - start
        comment = sql.SQL("COMMENT ON DATABASE {} IS {}")
        run(self._session, [comment.format(sql.Identifier(name), sql.Literal(MARK))])
        return took
