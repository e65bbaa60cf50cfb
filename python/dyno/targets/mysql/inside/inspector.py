"""Compares the counters of statements and tables at the ends of a period; resets none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dyno.contracts.inspection import Inspection
from dyno.errors import DynoError
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside import relations, statements
from dyno.targets.mysql.inside.shown import Shown

_UPTIME = "SHOW GLOBAL STATUS LIKE 'Uptime'"


@dataclass(frozen=True)
class _Snapshot:
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
        # A server that stopped meanwhile counts from 0.
        first = before if before is not None and before.uptime_s <= after.uptime_s else None
        used = {(place, table) for place, table, _ in after.relations}
        sizes = relations.sizes(self._opened(), used)
        return Inspection(
            statements.between(first.statements if first else {}, after.statements),
            relations.between(first.relations if first else {}, after.relations, sizes),
            after.shown.notes,
        )

    def close(self) -> None:
        """Closes the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

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
            int(session.execute(_UPTIME).rows[0][1]),
            shown,
            statements.read(session) if shown.counts else {},
            relations.read(session, userstat=shown.userstat)
            if shown.counts or shown.userstat
            else {},
        )
