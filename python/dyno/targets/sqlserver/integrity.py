"""Integrity checks of a database: ``DBCC CHECKDB``.

The check reads an internal snapshot of the database, so it blocks nobody. The snapshot grows with
what is changed meanwhile, next to the data files; that is in no counter.

Source: Microsoft, "DBCC CHECKDB (Transact-SQL)".
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from typing import Any

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.errors import DynoError
from dyno.targets.sqlserver.connection import literal
from dyno.targets.sqlserver.errors import Message, parts
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.work import Work

_FAULTS = (range(2500, 2600), range(5250, 5280), range(7900, 8000), range(8900, 9000))
"""Numbers of the errors with which DBCC reports damage; others stop the check."""
_STOPPING = frozenset({2501, 2520, 2571, 7901, 7926, 7928, 7929, 7983, 8921, 8967, 8970, 8998})
"""No such object or right, or the check could not be done: no snapshot, too little tempdb."""
_FOUND = re.compile(r"found (\d+) allocation errors? and (\d+) consistency errors?")
"""DBCC ends with it if there is damage, whatever its first error was."""
_LONGEST = 400

ESTIMATE = "DBCC CHECKDB ({}) WITH ESTIMATEONLY"
_ESTIMATED = re.compile(r"TEMPDB.*?=\s*(\d+)")
"""The message with KB of tempdb. Old versions had them in the last result."""
SPACE = (
    "SELECT SUM(internal_objects_alloc_page_count - internal_objects_dealloc_page_count) "  # noqa: S608
    f"* {PAGE} FROM tempdb.sys.dm_db_task_space_usage WHERE session_id = {{}}"
)
_SOURCE = "ESTIMATEONLY: the estimate of tempdb by the server; the snapshot's file is extra"
_NO_ESTIMATE = "the server sent no estimate for ESTIMATEONLY"


class DatabaseCheck(Work):
    """``DBCC CHECKDB`` also compares each index with its table, row by row."""

    name = "integrity-check"
    options = "NO_INFOMSGS, ALL_ERRORMSGS"
    method = (
        "DBCC CHECKDB of the workload's database: allocation, catalog, links of pages, checksums, "
        "and every index against its table, on an internal snapshot"
    )

    def _prepare(self) -> None:
        start = time.monotonic()
        found = self.session.execute(self.estimation(self.place)).rows
        took_s = time.monotonic() - start
        size = estimated(found, self.session.messages)
        self.estimate = SpaceEstimate(size, _NO_ESTIMATE if size is None else _SOURCE, took_s)

    def _steps(self) -> Sequence[str]:
        return [self.place]

    def _work(self, step: str) -> Check:
        try:
            self.session.execute(self.statement(step))
        except DynoError as error:
            message = fault(error, self.session.messages)
            if message is None:
                raise
            return self._check(step, message, passed=False)
        return self._check(step, "no errors found", passed=True)

    @classmethod
    def statement(cls, database: str) -> str:
        """The check of a database."""
        return f"DBCC CHECKDB ({literal(database)}) WITH {cls.options}"

    @classmethod
    def estimation(cls, database: str) -> str:
        """The estimate with the same options; see :func:`estimated`."""
        return ESTIMATE.format(literal(database))

    def _space_query(self) -> str:
        return SPACE.format(self.session.number)


class PhysicalCheck(DatabaseCheck):
    """``PHYSICAL_ONLY`` reads every page, and leaves out what is inside."""

    name = "quick-check"
    options = "PHYSICAL_ONLY, NO_INFOMSGS, ALL_ERRORMSGS"
    method = (
        "DBCC CHECKDB … PHYSICAL_ONLY of the workload's database: pages, checksums and allocation, "
        "without comparing indexes with tables, on an internal snapshot"
    )

    @classmethod
    def estimation(cls, database: str) -> str:
        """See the full check."""
        return f"{super().estimation(database)}, PHYSICAL_ONLY"


def estimated(rows: Sequence[Sequence[Any]], messages: Iterable[Message]) -> int | None:
    """Bytes of tempdb that the server estimates; None if it sent no estimate.

    Args:
        rows: The last result.
        messages: All messages of the statement.
    """
    kilobytes = [int(found[1]) for one in messages if (found := _ESTIMATED.search(one.text))]
    kilobytes += [int(rows[-1][0])] if rows else []
    return 1024 * max(kilobytes) if kilobytes else None


def fault(error: DynoError, messages: Iterable[Message]) -> str | None:
    """The damage that DBCC reports; None if the check itself failed.

    Args:
        error: The error; its cause has the first message of the highest severity.
        messages: All messages of the statement.
    """
    cause = error.__cause__
    number, text = parts(cause) if isinstance(cause, Exception) else (0, "")
    if number not in _STOPPING and any(number in known for known in _FAULTS):
        return f"{text[:_LONGEST]} [error {number}]"
    counts = [(one.text, *found.groups()) for one in messages if (found := _FOUND.search(one.text))]
    return next((text for text, *found in counts if any(map(int, found))), None)
