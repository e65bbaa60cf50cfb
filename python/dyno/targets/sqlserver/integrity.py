"""Integrity checks of a database: ``DBCC CHECKDB``.

The check reads an internal snapshot of the database, so it blocks nobody. The snapshot grows with
what is changed meanwhile, next to the data files; that is in no counter.

Source: Microsoft, "DBCC CHECKDB (Transact-SQL)".
"""

from __future__ import annotations

from collections.abc import Sequence

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import literal
from dyno.targets.sqlserver.errors import parts
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.work import Work

_FAULTS = (range(2500, 2600), range(5250, 5280), range(7900, 8000), range(8900, 9000))
"""Numbers of the errors with which DBCC reports damage; others stop the check."""
_STOPPING = frozenset({2501, 2520, 7901, 8921, 8967, 8970, 8998})
"""No such object, or the check could not be done: too little tempdb, an internal error."""
_LONGEST = 400

ESTIMATES = ("DBCC CHECKALLOC ({}) WITH ESTIMATEONLY", "DBCC CHECKDB ({}) WITH ESTIMATEONLY")
"""KB of tempdb in the last result: for the allocation check, and for the check of all tables."""
SPACE = (
    "SELECT SUM(internal_objects_alloc_page_count - internal_objects_dealloc_page_count) "  # noqa: S608
    f"* {PAGE} FROM tempdb.sys.dm_db_task_space_usage WHERE session_id = {{}}"
)
_SOURCE = "ESTIMATEONLY: the estimate of tempdb by the server; the snapshot's file is extra"


class DatabaseCheck(Work):
    """``DBCC CHECKDB`` also compares each index with its table, row by row."""

    name = "integrity-check"
    options = "NO_INFOMSGS, ALL_ERRORMSGS"
    method = (
        "DBCC CHECKDB of the workload's database: allocation, catalog, links of pages, checksums, "
        "and every index against its table, on an internal snapshot"
    )

    def _prepare(self) -> None:
        self.estimate = SpaceEstimate(self._estimated(), _SOURCE)

    def _steps(self) -> Sequence[str]:
        return [self.place]

    def _work(self, step: str) -> Check:
        try:
            self.session.execute(self.statement(step))
        except DynoError as error:
            message = fault(error)
            if message is None:
                raise
            return self._check(step, message, passed=False)
        return self._check(step, "no errors found", passed=True)

    @classmethod
    def statement(cls, database: str) -> str:
        """The check of a database."""
        return f"DBCC CHECKDB ({literal(database)}) WITH {cls.options}"

    @classmethod
    def estimates(cls, database: str) -> list[str]:
        """Statements whose last result has KB of tempdb; the most counts."""
        return [statement.format(literal(database)) for statement in ESTIMATES]

    def _space_query(self) -> str:
        return SPACE.format(self.session.number)

    def _estimated(self) -> int:
        kilobytes = 0
        for statement in self.estimates(self.place):
            found = self.session.execute(statement).rows
            kilobytes = max(kilobytes, int(found[-1][0]) if found else 0)
        return kilobytes * 1024


class PhysicalCheck(DatabaseCheck):
    """``PHYSICAL_ONLY`` reads every page, and leaves out what is inside."""

    name = "quick-check"
    options = "PHYSICAL_ONLY, NO_INFOMSGS, ALL_ERRORMSGS"
    method = (
        "DBCC CHECKDB … PHYSICAL_ONLY of the workload's database: pages, checksums and allocation, "
        "without comparing indexes with tables, on an internal snapshot"
    )

    @classmethod
    def estimates(cls, database: str) -> list[str]:
        """The estimate with the same options."""
        return [f"{ESTIMATES[1]}, PHYSICAL_ONLY".format(literal(database))]


def fault(error: DynoError) -> str | None:
    """The damage that an error of DBCC reports; None if the check itself failed."""
    cause = error.__cause__
    number, text = parts(cause) if isinstance(cause, Exception) else (0, "")
    if number in _STOPPING or not any(number in known for known in _FAULTS):
        return None
    return f"{text[:_LONGEST]} [error {number}]"
