"""Online maintenance of MariaDB and MySQL."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

from dyno.bundle.model import Check
from dyno.contracts import schema
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted

Probe = Callable[[], int]
"""Bytes that the server's files occupy."""

_LARGEST = (
    "SELECT coalesce(max(data_length + index_length), 0) FROM information_schema.tables "
    "WHERE table_schema = {}"
)


class _Work(ABC):
    """One statement per table, in its own session."""

    method: str
    name: str

    def __init__(self, session: MysqlConnection, workload: str) -> None:
        self._session = session
        self._place = mark.schema_of(workload)
        self._tables = schema.visible_names(workload)

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Processes every table."""
        checks: list[Check] = []
        for number, table in enumerate(self._tables):
            progress(number, len(self._tables), f"{self.name} of {table}")
            if stop.is_set():
                raise self._stopped()
            try:
                checks.append(self._work(table))
            except DynoError as error:
                if stop.is_set() or error.kind == "timeout":
                    raise self._stopped() from error
                raise
        progress(len(self._tables), len(self._tables), "")
        return checks

    def cancel(self) -> None:
        """Stops the running statement; the server rolls it back."""
        self._session.cancel()

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    @abstractmethod
    def _work(self, table: str) -> Check:
        """Processes one table."""

    def _table(self, name: str) -> str:
        return f"{quoted(self._place)}.{quoted(name)}"

    def _check(self, table: str, message: str, *, passed: bool) -> Check:
        return Check(name=f"{self.name} {table}", target="mysql", passed=passed, message=message)

    def _stopped(self) -> Interrupted:
        return Interrupted(f"The {self.name} was stopped.")


class TableCheck(_Work):
    """``CHECK TABLE`` reads each index completely and compares the row counts.

    InnoDB verifies the checksum of each page that it reads.
    """

    name = "integrity-check"
    depth = "EXTENDED"
    method = "CHECK TABLE … EXTENDED of every table: reads and counts all indexes"
    estimate = SpaceEstimate(0, "a check writes nothing")

    def space(self) -> int | None:
        """None, as it needs no space."""
        return 0

    def _work(self, table: str) -> Check:
        rows = self._session.execute(f"CHECK TABLE {self._table(table)} {self.depth}").rows
        # The last row is the verdict; the rows before it have the problems.
        faults = [str(row[3]) for row in rows[:-1]]
        verdict = str(rows[-1][3])
        passed = verdict == "OK"
        return self._check(
            table, verdict if passed else "; ".join([*faults, verdict]), passed=passed
        )


class QuickTableCheck(TableCheck):
    """``CHECK TABLE … QUICK`` leaves out the validation of links between pages and rows."""

    name = "quick-check"
    depth = "QUICK"
    method = "CHECK TABLE … QUICK of every table: does not look for incorrect links"


class Rebuild(_Work):
    """Rebuilds every table with all its indexes, online.

    InnoDB cannot rebuild a single index in place. This does the same as ``OPTIMIZE TABLE``, but
    fails
    instead of falling back to a table lock.
    """

    name = "reindex"
    method = "ALTER TABLE … FORCE, ALGORITHM=INPLACE, LOCK=NONE of every table"

    def __init__(self, session: MysqlConnection, workload: str, probe: Probe | None) -> None:
        super().__init__(session, workload)
        self._probe = probe
        self._before: int | None = None
        largest = session.execute(_LARGEST.format(literal(self._place))).rows[0][0]
        self.estimate = SpaceEstimate(
            int(largest), "the largest table with its indexes, which exists twice for a while"
        )

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Rebuilds every table."""
        self._before = None if self._probe is None else self._probe()
        return super().run(stop, progress)

    def space(self) -> int | None:
        """Growth in bytes of the server's files since the start; None for a server at a URL."""
        if self._probe is None or self._before is None:
            return None
        return max(0, self._probe() - self._before)

    def _work(self, table: str) -> Check:
        self._session.execute(
            f"ALTER TABLE {self._table(table)} FORCE, ALGORITHM=INPLACE, LOCK=NONE"
        )
        return self._check(table, "rebuilt with all its indexes", passed=True)
