"""Maintenance under queries: one stream, repeated before it, during it and after it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from dyno import workloads
from dyno.drive.again import connect_again
from dyno.drive.during import DuringPlan, Upkeep, upkeep
from dyno.engine import interruptible
from dyno.errors import DynoError, Interrupted
from dyno.progress import Progress
from dyno.record import Recorder
from dyno.targets.base import Connection, Target

Part = Literal["before", "during", "mixed", "after"]


@dataclass(frozen=True)
class StreamPlan:
    """The stream that is repeated: one user, the queries in the order of the power test.

    Attributes:
        timeout_s: A query that takes longer is cancelled and recorded as an error.
    """

    workload: str
    scale: float
    timeout_s: float = 600.0


def queries_during(
    recorder: Recorder, target: Target, plan: StreamPlan, during: DuringPlan, progress: Progress
) -> None:
    """Repeats the stream and records each query in ``during`` with the part that it belongs to.

    Before: whole passes for the stretch. During: until the maintenance has ended, which is
    repeated until it has met each query. After: a pass at least, for the stretch. A query under
    way when the maintenance ends belongs to neither (``mixed``).

    Raises:
        UsageError: If the target cannot do the maintenance.
        TargetError: If the server is gone.
    """
    queries = workloads.get(plan.workload)
    order = list(queries.order(0))
    met: list[str] = []
    facts = {"workload": plan.workload, "scale": plan.scale}
    name = f"during-{plan.workload}-{target.name}"
    title = f"Queries on {target.name} before, during and after: {during.title.lower()}"
    with (
        upkeep(recorder, target, during, facts, lambda: len(met) >= len(order)) as work,
        recorder.phase(name, title, "dss", target.name) as detail,
    ):
        detail.update(**facts, warm=True, stretch_s=during.stretch_s, maintenance=during.name)
        texts = {
            query.name: target.sql(plan.workload, query.name, query.text(parameters))
            for query in queries.queries
            for parameters in [query.validation(plan.scale)]
        }
        connection = target.connect(plan.workload)
        try:
            until, alone, over = time.monotonic() + during.stretch_s, 0, False
            for number in count():
                query = order[number % len(order)]
                part = _part(work)
                progress.update(0, 0, f"{query}, {part}")
                row = _run(recorder, connection, texts[query], plan.timeout_s)
                if part == "during" and work.ended:
                    part = "mixed"
                row.update(part=part, round=number // len(order), query=query, target=target.name)
                recorder.add("during", [row])
                if row["error_kind"] == "connection_lost":
                    connection = connect_again(target, plan.workload, connection, row["error"])
                if part == "before":
                    if number % len(order) == len(order) - 1 and time.monotonic() >= until:
                        work.start()
                elif part == "during":
                    met.append(query)
                elif part == "after":
                    alone += 1
                if work.ended and not over:
                    until, over = time.monotonic() + during.stretch_s, True
                failed = work.ended and work.course.error is not None
                if failed or (over and alone >= len(order) and time.monotonic() >= until):
                    break
        finally:
            connection.close()
        progress.update(1, 1)


def _part(work: Upkeep) -> Part:
    if work.ended:
        return "after"
    return "during" if work.started else "before"


def _run(recorder: Recorder, connection: Connection, sql: str, timeout_s: float) -> dict[str, Any]:
    """One query: its row, without what it belongs to."""
    deadline = threading.Timer(timeout_s, connection.cancel)
    row: dict[str, Any] = {"error": None, "error_kind": None, "rows": None}
    row["t_ns"] = recorder.clock.unix_now_ns()
    start = time.monotonic_ns()
    deadline.start()
    try:
        answer = interruptible(lambda: connection.execute(sql), connection.cancel)
        row["rows"] = len(answer.rows)
    except Interrupted:
        raise
    except DynoError as error:
        row.update(error=str(error), error_kind=error.kind)
    finally:
        deadline.cancel()
    taken_ns = time.monotonic_ns() - start
    return {**row, "end_ns": row["t_ns"] + taken_ns, "seconds": taken_ns / 1e9}
