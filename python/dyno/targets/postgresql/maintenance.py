"""Online maintenance of PostgreSQL: ``REINDEX CONCURRENTLY``, and integrity checks."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass

from psycopg import sql

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run
from dyno.targets.postgresql.extra_space import Space

Connect = Callable[[], PostgresConnection]

_DROP_S = 30
"""Timeout in seconds to drop the remains of a stopped reindex, which waits for other sessions."""

_LEFTOVER = r"_cc(new|old)\d*$"
"""Suffixes of ``REINDEX CONCURRENTLY`` for new and old indexes."""


@dataclass(frozen=True)
class Index:
    """An index of the workload, with its table and its size in bytes."""

    name: str
    table: str
    size: int


def indexes(session: PostgresConnection, place: str) -> list[Index]:
    """Valid B-tree indexes of a schema, the largest first."""
    query = sql.SQL(
        "SELECT i.relname, t.relname, pg_relation_size(i.oid) FROM pg_index x "
        "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid "
        "JOIN pg_namespace n ON n.oid = i.relnamespace JOIN pg_am a ON a.oid = i.relam "
        "WHERE n.nspname = {} AND x.indisvalid AND a.amname = 'btree' AND i.relkind = 'i' "
        "ORDER BY 3 DESC, 1"
    )
    rows = run(session, [query.format(sql.Literal(place))])
    return [Index(str(name), str(table), int(size)) for name, table, size in rows]


def _largest(found: list[Index]) -> int:
    return max((index.size for index in found), default=0)


class Work:
    """Base of all maintenance: a working session, and a second one that observes it."""

    def __init__(self, connect: Connect, workload: str) -> None:
        self.place = mark.schema_of(workload)
        self.connect = connect
        self.session = connect()
        try:
            self.space_session = Space(connect, self.session.raw.info.backend_pid, self.place)
        except BaseException:
            self.session.close()
            raise

    def statement(self, statement: sql.Composed, stop: threading.Event) -> None:
        """Runs one statement.

        Raises:
            Interrupted: If it was stopped.
        """
        if stop.is_set():
            raise Interrupted("The maintenance was stopped.")
        try:
            run(self.session, [statement])
        except DynoError as error:
            if stop.is_set():
                raise Interrupted("The maintenance was stopped.") from error
            raise

    def space(self) -> int | None:
        """See the protocol."""
        return self.space_session.read()

    def cancel(self) -> None:
        """See the protocol."""
        self.session.cancel()

    def close(self) -> None:
        """See the protocol."""
        self.session.close()
        self.space_session.close()


class Reindex(Work):
    """Implements the protocol. Rebuilds the workload's indexes one after another, largest first."""

    def __init__(self, connect: Connect, workload: str) -> None:
        super().__init__(connect, workload)
        try:
            self._indexes = indexes(self.session, self.place)
            self._largest = _largest(self._indexes)
            self._memory = int(
                self.session.execute(
                    "SELECT setting::bigint * 1024 FROM pg_settings "
                    "WHERE name = 'maintenance_work_mem'"
                ).rows[0][0]
            )
        except BaseException:
            super().close()
            raise

    @property
    def method(self) -> str:
        """The method, as text."""
        return f"REINDEX INDEX CONCURRENTLY of {len(self._indexes)} indexes, one after another"

    @property
    def estimate(self) -> SpaceEstimate:
        """The size of the largest index, plus its sort runs if they exceed memory."""
        largest = self._largest
        spilled = largest > self._memory
        source = "one more copy of the largest index"
        if spilled:
            source += ", and the same again for its sort, which exceeds maintenance_work_mem"
        return SpaceEstimate(largest * (2 if spilled else 1), source)

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Rebuilds every index."""
        # Indexes may have grown since the job was prepared.
        self._indexes = indexes(self.session, self.place)
        self._largest = max(self._largest, _largest(self._indexes))
        for number, index in enumerate(self._indexes):
            progress(number, len(self._indexes), f"reindex of {index.name}")
            name = sql.Identifier(self.place, index.name)
            self.statement(sql.SQL("REINDEX INDEX CONCURRENTLY {}").format(name), stop)
            # The old and the new index existed together, if only for a moment.
            self.space_session.seen(self._size(index.name))
        progress(len(self._indexes), len(self._indexes), "")
        names = {index.name for index in indexes(self.session, self.place)}
        missing = sorted({index.name for index in self._indexes} - names)
        message = f"{len(names)} indexes rebuilt, all valid"
        if missing:
            message = f"invalid after the rebuild: {', '.join(missing)}"
        return [
            Check(name="reindex", target="postgresql", passed=not missing, message=message),
        ]

    def close(self) -> None:
        """Drops half-built indexes of a stopped run, and closes the sessions."""
        super().close()
        # The working session may still be busy, or broken.
        with contextlib.suppress(DynoError), contextlib.closing(self.connect()) as session:
            self._drop_leftovers(session)

    def _size(self, name: str) -> int:
        query = sql.SQL("SELECT pg_relation_size({}::regclass)")
        text = sql.Identifier(self.place, name).as_string(self.session.raw)
        return int(run(self.session, [query.format(sql.Literal(text))])[0][0])

    def _drop_leftovers(self, session: PostgresConnection) -> None:
        session.execute(f"SET statement_timeout = '{_DROP_S}s'")
        query = sql.SQL(
            "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid "
            "JOIN pg_namespace n ON n.oid = i.relnamespace "
            "WHERE n.nspname = {} AND NOT x.indisvalid AND i.relname ~ {}"
        ).format(sql.Literal(self.place), sql.Literal(_LEFTOVER))
        for (name,) in run(session, [query]):
            drop = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}")
            run(session, [drop.format(sql.Identifier(self.place, str(name)))])
