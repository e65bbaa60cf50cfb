"""Maintenance of MariaDB and MySQL while queries and transactions go on."""

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
    """One statement a table, in a session of its own."""

    method: str
    name: str

    def __init__(self, session: MysqlConnection, workload: str) -> None:
        self._session = session
        self._place = mark.schema_of(workload)
        self._tables = schema.table_names(workload)

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Works on every table."""
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
        """Stops the statement under way; the server undoes what it has begun."""
        self._session.cancel()

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    @abstractmethod
    def _work(self, table: str) -> Check:
        """Works on one table."""

    def _table(self, name: str) -> str:
        return f"{quoted(self._place)}.{quoted(name)}"

    def _check(self, table: str, message: str, *, passed: bool) -> Check:
        return Check(name=f"{self.name} {table}", target="mysql", passed=passed, message=message)

    def _stopped(self) -> Interrupted:
        return Interrupted(f"The {self.name} was stopped.")


class TableCheck(_Work):
    """``CHECK TABLE`` reads each index whole, and counts what it finds in them against each other.

    InnoDB proves the checksum of each page that it takes from the file.
    """

    name = "integrity-check"
    method = "CHECK TABLE … EXTENDED of every table: reads and counts all indexes"
    estimate = SpaceEstimate(0, "a check writes nothing")

    def space(self) -> int | None:
        """It takes none."""
        return 0

    def _work(self, table: str) -> Check:
        rows = self._session.execute(f"CHECK TABLE {self._table(table)} EXTENDED").rows
        # The last row is the verdict; those before it say what is wrong.
        faults = [str(row[3]) for row in rows[:-1]]
        verdict = str(rows[-1][3])
        passed = verdict == "OK"
        return self._check(
            table, verdict if passed else "; ".join([*faults, verdict]), passed=passed
        )


class Rebuild(_Work):
    """Every table is rebuilt with all its indexes, and accepts changes meanwhile.

    InnoDB rebuilds no index in its place; this is what ``OPTIMIZE TABLE`` does, but it refuses to
    lock the table rather than fall back on that.
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
        """Bytes that the server's files have grown by since it began; None for another's server."""
        if self._probe is None or self._before is None:
            return None
        return max(0, self._probe() - self._before)

    def _work(self, table: str) -> Check:
        self._session.execute(
            f"ALTER TABLE {self._table(table)} FORCE, ALGORITHM=INPLACE, LOCK=NONE"
        )
        return self._check(table, "rebuilt with all its indexes", passed=True)
