"""Compares the counters of statements and tables at the ends of a period; resets none.

In MySQL, statements also get plans.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from dyno.contracts.inspection import Inspection
from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside import relations, samples, statements
from dyno.targets.mysql.inside.shown import Shown

_PARTITIONED = "reads of the partitioned {tables} are unknown: MariaDB counts only some of them"
_UPTIME = "SHOW GLOBAL STATUS LIKE 'Uptime'"


@dataclass(frozen=True)
class _Snapshot:
    session: MysqlConnection
    read_s: float
    uptime_s: int
    shown: Shown
    statements: statements.Snapshot
    relations: relations.Snapshot


class MysqlInspector:
    """Implements the protocol, in one session."""

    def __init__(self, connect: Callable[[], MysqlConnection], *, private: bool) -> None:
        """Opens nothing.

        Args:
            connect: Opens a session.
            private: Whether the server is Dyno's own.
        """
        self._connect, self._private = connect, private
        self._session: MysqlConnection | None = None
        self._before: _Snapshot | None = None

    def begin(self) -> None:
        """Reads the counters at the start (see the protocol)."""
        self._before = self._read()

    def end(self) -> Inspection:
        """What was counted since then (see the protocol)."""
        before, after = self._before, self._read()
        self._before = after
        calls: statements.Snapshot = {}
        rows: relations.Snapshot = {}
        if before is not None and not self._restarted(before, after):
            calls, rows = before.statements, before.relations
        session = self._opened()
        tables = relations.about(session, after.relations)
        whole = not session.version.is_mariadb
        used = relations.between(rows, after.relations, tables, whole=whole)
        unknown = sorted({one.of_table for one in used if one.logical_reads is None})
        notes = [_PARTITIONED.format(tables=", ".join(unknown))] if unknown else []
        uses = statements.between(calls, after.statements)
        if not session.version.is_mariadb:
            uses, lacking = samples.with_plans(self._connect, uses)
            notes += lacking
        return Inspection(uses, used, [*after.shown.notes, *notes])

    def close(self) -> None:
        """Closes the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    @staticmethod
    def _restarted(before: _Snapshot, after: _Snapshot) -> bool:
        """Whether the server started in between: its counters began with 0.

        A session that lasted proves the contrary. Uptime alone does not tell, as it follows the
        server's wall clock. It is the difference of two times cut to seconds: up to one too high.
        """
        elapsed_s = after.read_s - before.read_s
        return before.session is not after.session and after.uptime_s <= elapsed_s + 1

    def _read(self) -> _Snapshot:
        try:
            return self._counted(self._opened())
        except DynoError as error:
            if error.kind != "connection_lost":
                raise
        self.close()  # the server may have restarted
        return self._counted(self._opened())

    def _opened(self) -> MysqlConnection:
        self._session = self._session or self._connect()
        return self._session

    def _counted(self, session: MysqlConnection) -> _Snapshot:
        shown = Shown.read(session, private=self._private)
        return _Snapshot(
            session,
            time.monotonic(),
            int(session.execute(_UPTIME).rows[0][1]),
            shown,
            statements.read(session) if shown.counts else {},
            relations.read(session, userstat=shown.userstat)
            if shown.counts or shown.userstat
            else {},
        )
