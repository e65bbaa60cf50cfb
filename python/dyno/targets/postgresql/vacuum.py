"""Online ``VACUUM (ANALYZE)`` of PostgreSQL's tables."""

from __future__ import annotations

import threading
import time

from psycopg import sql

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.maintenance import Connect, Work

_STATE = (
    "SELECT n_dead_tup, last_vacuum IS NOT NULL AND last_vacuum >= {} FROM pg_stat_all_tables "
    "WHERE schemaname = {} AND relname = {}"
)


class Vacuum(Work):
    """Implements the protocol. Vacuums tables and partitions one after another, largest first."""

    estimate = SpaceEstimate(0, "a vacuum frees space inside the tables and writes no other files")

    def __init__(self, connect: Connect, workload: str) -> None:
        super().__init__(connect, workload)
        # Before version 15, statistics may be half a second old.
        self._stale_s = 2.0 if self.session.raw.info.server_version < 150000 else 0.0
        try:
            sizes = ddl.sizes(self.session, self.place)
        except BaseException:
            super().close()
            raise
        self._tables = sorted(sizes, key=lambda name: (-sizes[name], name))

    @property
    def method(self) -> str:
        """The method, as text."""
        return f"VACUUM (ANALYZE) of {len(self._tables)} tables, one after another"

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Vacuums every table."""
        checks: list[Check] = []
        for number, table in enumerate(self._tables):
            progress(number, len(self._tables), f"vacuum of {table}")
            (now,) = self.session.execute("SELECT clock_timestamp()::text").rows[0]
            dead, _ = self._state(table, str(now))
            name = sql.Identifier(self.place, table)
            self.statement(sql.SQL("VACUUM (ANALYZE) {}").format(name), stop)
            # For a table that this user may not vacuum, there is only a warning.
            left, done = self._state(table, str(now))
            until = time.monotonic() + self._stale_s
            while not done and time.monotonic() < until and not stop.wait(0.1):
                left, done = self._state(table, str(now))
            message = f"{dead:,} dead rows before, {left:,} after"
            if not done:
                message = "the server skipped it; only the owner of a table may vacuum it"
            checks.append(
                Check(name=f"vacuum {table}", target="postgresql", passed=done, message=message)
            )
        progress(len(self._tables), len(self._tables), "")
        return checks

    def _state(self, table: str, since: str) -> tuple[int, bool]:
        """The server's count of dead rows, and whether the table was vacuumed since then."""
        query = sql.SQL(_STATE).format(
            sql.Literal(since), sql.Literal(self.place), sql.Literal(table)
        )
        found = ddl.run(self.session, [query])
        return (int(found[0][0]), bool(found[0][1])) if found else (0, False)
