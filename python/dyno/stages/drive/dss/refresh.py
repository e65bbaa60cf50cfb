"""The refresh functions: RF1 inserts new orders with lineitems, RF2 deletes as many loaded orders.

Each function is one transaction. The ``queries`` table holds them as ``rf1`` and ``rf2`` of stream
-1, with the pair number as the position. Pair 0 belongs to the power test. Each pair uses the next
update set: its number is the first set of the plan plus the pair number.

A row count of the update set verifies each function. Without keys the count scans a whole table, so
the caller chooses the time, if possible outside the measurement. A function is recorded after its
count.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dyno.bundle.model import Check
from dyno.contracts import databases
from dyno.contracts.refresh import UpdateSet, delete, matching
from dyno.contracts.target import Connection, Target
from dyno.contracts.workload import Workload
from dyno.errors import DynoError, UsageError
from dyno.stages.drive.dss.answer_recorder import AnswerRecorder
from dyno.stages.drive.dss.crew import Crew
from dyno.stages.drive.dss.plan import DssPlan
from dyno.stages.drive.dss.query import Outcome, timed
from dyno.workloads.rows import count

if TYPE_CHECKING:
    from dyno import _core

STREAM = -1
"""Stream number of the refresh functions in the ``queries`` table."""


class Refresher:
    """Runs refresh functions on a separate session.

    Attributes:
        errors: Errors by name, such as ``rf1 of pair 2``.
    """

    def __init__(
        self, target: Target, workload: Workload, plan: DssPlan, crew: Crew, notary: AnswerRecorder
    ) -> None:
        """Connects to the target.

        Raises:
            UsageError: If the workload has no refresh functions.
            TargetError: If the target rejects the session.
        """
        from dyno import _core

        if workload.refresh is None:
            raise UsageError(f"{workload.name} has no refresh functions.")
        self._refresh = workload.refresh
        self._target, self._workload, self._plan = target, plan.workload, plan
        self._crew, self._notary = crew, notary
        self._session = crew.session(plan.workload)
        self._control: _core.Control = _core.Control()
        self.errors: dict[str, str] = {}
        self._counted: dict[tuple[int, str], dict[str, int]] = {}
        self._ended: dict[tuple[int, str], Outcome] = {}
        self._sets: dict[int, UpdateSet] = {}
        self._made: dict[int, dict[str, Any]] = {}

    def prepare(self, number: int) -> None:
        """Generates the rows of a pair in advance, so that ``insert`` starts immediately.

        The first rows of a process take a second, because their text comes from a pool of 300 MB.
        """
        if number not in self._made:
            self._made[number] = self._rows(self._set(number))

    def insert(self, number: int) -> None:
        """Runs RF1 of a pair.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is permanently gone.
        """
        self.prepare(number)
        rows = self._made.pop(number)

        def work(connection: Connection) -> None:
            self._target.insert(connection, self._workload, rows)

        self._run("rf1", number, work)

    def delete(self, number: int) -> None:
        """Runs RF2 of a pair.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is permanently gone.
        """
        update = self._set(number)
        statements = [
            self._target.sql(self._workload, f"rf2-{table}", delete(table, update.loaded[table]))
            for table in reversed(list(update.rows))
        ]

        def work(connection: Connection) -> None:
            for statement in statements:
                connection.execute(statement)

        self._run("rf2", number, work)

    def count(self, pair: int | None = None) -> None:
        """Counts the rows of a pair (None: of all) after a function that is not yet counted.

        Call it between the functions of a pair, and after the second.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is permanently gone.
        """
        for number, function in list(self._ended):
            if pair not in (None, number) or self._crew.stop.is_set():
                continue
            seen = self._count(function, self._sets[number])
            if seen is not None:
                self._counted[number, function] = seen
            self._record(function, number)

    def close(self) -> None:
        """Records functions that could no longer be counted."""
        for number, function in list(self._ended):
            self._record(function, number)

    def checks(self) -> list[Check]:
        """Checks that RF1 inserted all new rows and that RF2 deleted all its rows."""
        wrong: list[str] = []
        unknown: list[str] = []
        total: dict[str, int] = {}
        for number, update in sorted(self._sets.items()):
            for function in ("rf1", "rf2"):
                seen = self._counted.get((number, function))
                expected = {
                    table: rows if function == "rf1" else 0 for table, rows in update.rows.items()
                }
                what = self._what(function, number)
                if seen is None:
                    why = "did not end" if what in self.errors else "could not be counted"
                    unknown.append(f"{what} {why}")
                elif seen != expected:
                    wrong.append(f"after {what} {seen} and not {expected} rows were there")
                elif function == "rf1":
                    total = {
                        table: total.get(table, 0) + rows for table, rows in update.rows.items()
                    }
        name = f"refresh functions of {'the power test' if 0 in self._sets else 'the streams'}"
        words = " and ".join(f"{rows:,} rows of {table}" for table, rows in total.items())
        if wrong:
            passed, message = False, wrong[0]
        elif unknown or not total:
            passed, message = None, f"skipped: {(unknown or ['no function ended'])[0]}"
        else:
            passed, message = True, f"{words} inserted, and as many loaded ones deleted"
        check = Check(name=name, target=self._target.name, passed=passed, message=message)
        return databases.named([check], self._plan.database)

    def _what(self, function: str, number: int) -> str:
        return f"{function} of pair {number}{databases.of(self._plan.database)}"

    def _set(self, number: int) -> UpdateSet:
        if number not in self._sets:
            first = self._plan.first_set
            self._sets[number] = self._refresh.update_set(self._plan.scale, first + number)
        return self._sets[number]

    def _rows(self, update: UpdateSet) -> dict[str, Any]:
        import pyarrow as pa

        streams = update.readers(self._control)
        return {
            table: pa.RecordBatchReader.from_stream(stream).read_all()
            for table, stream in streams.items()
        }

    def _run(self, function: str, number: int, work: Callable[[Connection], None]) -> None:
        if self._crew.stop.is_set():
            return
        session, clock = self._session, self._notary.clock
        outcome = timed(
            session, lambda: transaction(session.connection, work), clock, self._plan.timeout_s
        )
        if outcome.cancelled(self._crew.stop):
            return
        self._ended[number, function] = outcome
        if outcome.error is not None:
            self._record(function, number)
            session.revive()

    def _count(self, function: str, update: UpdateSet) -> dict[str, int] | None:
        """Counts the rows of the function that the session sees now; None if the count fails."""
        session = self._session
        own = update.new if function == "rf1" else update.loaded
        try:
            with session.within(self._plan.timeout_s):
                return {
                    table: count(session.connection, matching(table, own[table]))
                    for table in update.rows
                }
        except DynoError:
            if not self._crew.stop.is_set():
                session.revive()
            return None

    def _record(self, function: str, number: int) -> None:
        """Records a function in the bundle, once."""
        outcome = self._ended.pop((number, function), None)
        if outcome is None:
            return
        update, seen = self._sets[number], self._counted.get((number, function))
        changed = None
        if seen is not None:
            there = sum(seen.values())
            changed = there if function == "rf1" else sum(update.rows.values()) - there
        outcome.row.update(
            stream=STREAM,
            position=self._plan.streams_before + number,
            query=function,
            target=self._target.name,
            workload=databases.workload_of(self._plan.workload),
            database=self._plan.database,
            parameters=json.dumps(
                {"pair": number, "update_set": update.number, **update.facts, **update.rows}
            ),
            rows=changed,
        )
        if outcome.error is not None:
            self.errors[self._what(function, number)] = str(outcome.error)
        self._notary.record(outcome)


def transaction(connection: Connection, work: Callable[[Connection], None]) -> None:
    """Runs ``work`` in a transaction. Rolls back on an error.

    Raises:
        DynoError: The error.
    """
    connection.execute("BEGIN")
    try:
        work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(DynoError):
            connection.execute("ROLLBACK")
        raise
