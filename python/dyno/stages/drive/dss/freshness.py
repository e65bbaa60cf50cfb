"""Measures before each query which transactions it will see (``contracts.freshness``).

Another session reads the newest committed transactions, then the query's own session reads those
that it sees. The query starts after that, so it sees at least as much.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from dyno import workloads
from dyno.bundle.model import Clock
from dyno.contracts.freshness import Freshness, Seen, freshness_ms, time_ns
from dyno.contracts.target import Connection, Target
from dyno.errors import DynoError

Row = Mapping[str, float | None]


class Watch:
    """The measurement for one session of queries.

    It begins once either session sees other data than before the first query, so a session that
    was stale from its start is measured, too. Until then, it costs two short statements before each
    query.
    """

    def __init__(
        self,
        statements: Freshness,
        translate: Callable[[str], str],
        other: Callable[[], Connection],
    ) -> None:
        """Reads nothing yet.

        Args:
            statements: The statements of the workload.
            translate: Gives a statement in the target's dialect.
            other: Opens the other session, whose owner closes it.
        """
        self._statements, self._translate = statements, translate
        self._newest = translate(statements.newest)
        self._open = other
        self._other: Connection | None = None
        self._first: Seen | None = None
        self._moved = False

    def before(self, connection: Connection, clock: Clock) -> Row:
        """Columns for the table of queries; call right before a query, outside its measured time.

        Unknown values are absent: without transactions, and if a statement fails.

        Args:
            connection: The session of the query.
            clock: The clock of the run, which times the driver's transactions.
        """
        try:
            return self._read(connection, clock)
        except (DynoError, ValueError):
            self._other = None  # it may be broken; the query records what is
            return {}

    def _read(self, connection: Connection, clock: Clock) -> Row:
        other = self._other = self._other or self._open()
        committed = Seen.of(other.execute(self._newest).rows)
        seen = Seen.of(connection.execute(self._newest).rows)
        if not self._moved:
            self._first = self._first or seen
            self._moved = any(one.numbers != self._first.numbers for one in (committed, seen))
        if not self._moved:
            return {}
        missing = [
            time_ns(other.execute(self._translate(self._statements.of(*one))).rows[0][0])
            for one in seen.lacks(committed)
        ]
        newest = seen.newest_ns
        # Last, because the statements above take time and the query starts now.
        start_ns = time.monotonic_ns() + clock.unix_ns - clock.monotonic_ns
        return {
            "freshness_ms": freshness_ms(start_ns, missing),
            "newest_age_ms": None if newest is None else (start_ns - newest) / 1e6,
        }


def watch(target: Target, database: str, other: Callable[[], Connection]) -> Watch | None:
    """The measurement for a session; None where no transactions can run beside its queries."""
    statements = workloads.get(database).freshness
    if statements is None or target.capabilities.oltp is not True:
        return None
    return Watch(statements, lambda neutral: target.sql(database, "freshness", neutral), other)
