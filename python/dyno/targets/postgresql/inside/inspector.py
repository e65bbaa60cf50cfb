"""Statements, with plans, and relations of a server between two points in time.

A session that is still open may not have reported its last second. That work counts in the next
period.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from dyno.contracts.inspection import Inspection
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside import generic, notes, observer, relations
from dyno.targets.postgresql.inside.relations import Relations
from dyno.targets.postgresql.inside.statements import Statements

_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class _Counters:
    statements: Statements
    relations: Relations


class PostgresInspector:
    """Implements the protocol. It has no session between the readings, which users may need."""

    def __init__(self, connect: Callable[[], PostgresConnection]) -> None:
        self._connect = connect
        self._before = _Counters(Statements(), {})

    def begin(self) -> None:
        """Reads the counters."""
        with closing(self._open()) as session:
            self._before = _read(session)

    def end(self) -> Inspection:
        """What was counted since, and what the server does not show."""
        with closing(self._open()) as session:
            now, before = _read(session), self._before
            self._before = now
            counted = now.statements.noted(before.statements)
            statements = counted.since(before.statements, session)
            used = relations.since(before.relations, now.relations, session)
            found = [*counted.notes, *notes.read(session)]
        schemas = relations.schemas(before.relations, now.relations)
        planned = generic.with_plans(self._connect, statements, counted.trusted, schemas)
        return Inspection(planned.statements, used, [*found, *planned.notes])

    def close(self) -> None:
        """Does nothing."""

    def _open(self) -> PostgresConnection:
        session = self._connect()
        try:
            observer.prepare(session, _TIMEOUT_S)
        except BaseException:
            session.close()
            raise
        return session


def _read(session: PostgresConnection) -> _Counters:
    return _Counters(Statements.read(session), relations.read(session))
