"""Runs one query on a session, times it and builds its row for the bundle."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dyno.bundle.model import Clock
from dyno.contracts.databases import workload_of
from dyno.contracts.target import QueryResult, Target
from dyno.contracts.workload import Query, Workload
from dyno.errors import DatabaseError, DynoError
from dyno.runtime.seeds import derived
from dyno.stages.drive.dss.plan import DssPlan, Parameters
from dyno.stages.drive.dss.session import Session


@dataclass(frozen=True)
class Task:
    """A query of a stream, ready to send.

    Attributes:
        parameters: Parameter values by name, as JSON text.
        database: The number of its database, if there are several.
        workload: The workload that has the query.
    """

    stream: int
    position: int
    query: Query
    parameters: str
    sql: str
    database: int | None = None
    workload: str | None = None


@dataclass
class Outcome:
    """Outcome of a query.

    Attributes:
        row: Its row of the ``queries`` table, without the digest, which takes time to compute.
        error: Why there is no answer.
    """

    row: dict[str, Any]
    query: Query | None = None
    answer: QueryResult | None = None
    error: DynoError | None = None

    def cancelled(self, stop: threading.Event) -> bool:
        """Whether the query was cancelled because all work stopped. Such an outcome does not count.

        A lost connection counts: it affects all streams, no matter which one detects it first.
        """
        lost = self.error is not None and self.error.kind == "connection_lost"
        return self.error is not None and stop.is_set() and not lost


def tasks(
    target: Target,
    workload: Workload,
    plan: DssPlan,
    stream: int,
    parameters: Parameters | None = None,
) -> list[Task]:
    """Returns the queries of a stream in its order, with ``parameters`` or those of the plan.

    This runs before the clock starts, because the target-specific SQL of a query can take time to
    prepare.
    """
    queries = {query.name: query for query in workload.queries}
    found: list[Task] = []
    often: Counter[str] = Counter()
    for position, name in enumerate(workload.order(stream, plan.seed)):
        query, again = queries[name], often[name]
        often[name] += 1
        if (parameters or plan.parameters) == "seeded":
            seed = plan.seed + stream
            seed = derived(seed, workload.name, again, name) if again else seed
            values = query.draw(seed, plan.scale)
        else:
            values = query.validation(plan.scale)
        task = task_of(target, plan.workload, query, values, stream, position)
        found.append(replace(task, database=plan.database))
    return found


def task_of(
    target: Target,
    workload: str,
    query: Query,
    values: dict[str, Any],
    stream: int,
    position: int = 0,
) -> Task:
    """Returns a query with its parameters, in the SQL of the target."""
    recorded = json.dumps(query.recorded(values), default=str)
    text = query.text_for(target, workload, values)
    return Task(stream, position, query, recorded, text, workload=workload_of(workload))


def run_query(
    session: Session,
    task: Task,
    clock: Clock,
    target_name: str,
    timeout_s: float,
    *,
    warming: bool = False,
) -> Outcome:
    """Runs one query and fetches all rows. An error becomes part of the outcome.

    With ``warming`` the time is not a result, so metering may add to it.
    """

    def work() -> QueryResult:
        return task.query.execute(session.connection, task.sql)

    meter = session.meter
    if meter is not None:
        meter.before(timed=not warming)
    outcome = timed(session, work, clock, timeout_s)
    _require_rows(outcome, task.query)
    if meter is not None:
        outcome.row.update(
            meter.after(task.query.name, timed=not warming, failed=outcome.answer is None)
        )
    outcome.row.update(
        stream=task.stream,
        position=task.position,
        query=task.query.name,
        target=target_name,
        workload=task.workload,
        database=task.database,
        parameters=task.parameters,
        rows=len(outcome.answer.rows) if outcome.answer else None,
    )
    outcome.query = task.query
    return outcome


def _require_rows(outcome: Outcome, query: Query) -> None:
    """Makes an answer with an unexpected number of rows an error."""
    why = "" if outcome.answer is None else query.against_rows(len(outcome.answer.rows))
    if why:
        outcome.error, outcome.answer = DatabaseError(why, kind="row_count"), None
        outcome.row.update(error=why, error_kind=outcome.error.kind)


def timed(
    session: Session, work: Callable[[], QueryResult | None], clock: Clock, timeout_s: float
) -> Outcome:
    """Runs ``work`` on a session within the timeout. The row holds the times and the error."""
    answer: QueryResult | None = None
    failure: DynoError | None = None
    start = time.monotonic_ns()
    try:
        with session.within(timeout_s):
            answer = work()
    except DynoError as error:
        failure, answer = error, None  # a late answer does not count
    end = time.monotonic_ns()
    origin = clock.unix_ns - clock.monotonic_ns
    row: dict[str, Any] = {
        "t_ns": start + origin,
        "end_ns": end + origin,
        "seconds": (end - start) / 1e9,
        "digest": None,
        "error": None if failure is None else str(failure),
        "error_kind": None if failure is None else failure.kind,
    }
    return Outcome(row, answer=answer, error=failure)
