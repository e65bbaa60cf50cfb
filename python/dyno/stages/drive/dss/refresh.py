"""The refresh functions: RF1 inserts new orders and their lines, RF2 deletes as many loaded ones.

Each is one transaction. Rows are recorded in the ``queries`` table as ``rf1`` and ``rf2`` of
stream -1, with the number of the pair as their position; pair 0 belongs to the power test. Each
pair takes the next update set: its number is the plan's first plus the pair's.

That a function did its work is known by counting the rows of its set, which reads a whole table
where there are no keys. So it is for the caller to say when: outside of what is measured, where
that can be. A function is recorded once it is counted.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dyno.bundle.model import Check
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
"""The stream of the refresh functions in the ``queries`` table."""


class Refresher:
    """Runs refresh functions on a session of its own.

    Attributes:
        errors: What went wrong, by a name such as ``rf1 of pair 2``.
    """

    def __init__(
        self, target: Target, workload: Workload, plan: DssPlan, crew: Crew, notary: AnswerRecorder
    ) -> None:
        """Connects.

        Raises:
            UsageError: If the workload has no refresh functions.
            TargetError: If the target takes no session.
        """
        from dyno import _core

        if workload.refresh is None:
            raise UsageError(f"{workload.name} has no refresh functions.")
        self._refresh = workload.refresh
        self._target, self._workload, self._plan = target, workload.name, plan
        self._crew, self._notary = crew, notary
        self._session = crew.session()
        self._control: _core.Control = _core.Control()
        self.errors: dict[str, str] = {}
        self._counted: dict[tuple[int, str], dict[str, int]] = {}
        self._ended: dict[tuple[int, str], Outcome] = {}
        self._sets: dict[int, UpdateSet] = {}
        self._made: dict[int, dict[str, Any]] = {}

    def prepare(self, number: int) -> None:
        """Makes the rows of a pair that ``insert`` will take, so that it begins when it is called.

        The first rows of a process take a second, as their words are drawn from a text of 300 MB.
        """
        if number not in self._made:
            self._made[number] = self._rows(self._set(number))

    def insert(self, number: int) -> None:
        """RF1 of a pair.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is gone for good.
        """
        self.prepare(number)
        rows = self._made.pop(number)

        def work(connection: Connection) -> None:
            self._target.insert(connection, self._workload, rows)

        self._run("rf1", number, work)

    def delete(self, number: int) -> None:
        """RF2 of a pair.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is gone for good.
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
        """Counts the rows of a pair (None: of all) whose function has ended and was not counted.

        To be called between the functions of a pair, and after the second.

        Raises:
            TargetError: With kind ``connection_lost``, if the server is gone for good.
        """
        for number, function in list(self._ended):
            if pair not in (None, number) or self._crew.stop.is_set():
                continue
            seen = self._count(function, self._sets[number])
            if seen is not None:
                self._counted[number, function] = seen
            self._record(function, number)

    def close(self) -> None:
        """Records what could not be counted any more."""
        for number, function in list(self._ended):
            self._record(function, number)

    def checks(self) -> list[Check]:
        """Whether after RF1 all new rows were there, and after RF2 none of those to delete."""
        wrong: list[str] = []
        unknown: list[str] = []
        total: dict[str, int] = {}
        for number, update in sorted(self._sets.items()):
            for function in ("rf1", "rf2"):
                seen = self._counted.get((number, function))
                expected = {
                    table: rows if function == "rf1" else 0 for table, rows in update.rows.items()
                }
                what = f"{function} of pair {number}"
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
        return [Check(name=name, target=self._target.name, passed=passed, message=message)]

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
        """Rows of the function that the session sees now; None if that could not be counted."""
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
        """Puts a function into the bundle, once."""
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
            position=number,
            query=function,
            target=self._target.name,
            parameters=json.dumps(
                {"pair": number, "update_set": update.number, **update.facts, **update.rows}
            ),
            rows=changed,
        )
        if outcome.error is not None:
            self.errors[f"{function} of pair {number}"] = str(outcome.error)
        self._notary.record(outcome)


def transaction(connection: Connection, work: Callable[[Connection], None]) -> None:
    """Does ``work`` in a transaction; after an error nothing of it stays.

    Raises:
        DynoError: What went wrong.
    """
    connection.execute("BEGIN")
    try:
        work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(DynoError):
            connection.execute("ROLLBACK")
        raise
