"""Maintenance during queries: streams run before, during and after it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Literal, get_args

from dyno import workloads
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.meter import Metering
from dyno.contracts.target import Target
from dyno.runtime.progress import Progress
from dyno.stages.drive.dss.crew import Crew
from dyno.stages.drive.dss.plan import StreamedPlan
from dyno.stages.drive.dss.query import Outcome, Task, tasks
from dyno.stages.drive.dss.stream import Stream
from dyno.stages.drive.during import DuringPlan, Upkeep, upkeep

Part = Literal["before", "during", "mixed", "after"]
_Which = tuple[int | None, str]
"""Database and query."""


@dataclass(frozen=True)
class StreamPlan(StreamedPlan):
    """The concurrent work: streams that repeat their queries.

    Each has its own session. A single one runs the order of the power test; several run the orders
    of the throughput test.
    """

    streams: int = 1
    metering: Metering = "never"

    def base_detail(self) -> partial[DssDetail]:
        """Returns the phase detail known at the start."""
        return partial(super().base_detail(), test="during")


def queries_during(
    recorder: Recorder, target: Target, plan: StreamPlan, during: DuringPlan, progress: Progress
) -> None:
    """Repeats the streams and records each query in ``during`` with its part.

    Before: for the minimum length, and until each query has run. During: until the maintenance
    ends; it repeats until it has overlapped each query. After: same as before. A query that spans
    the start or end of the maintenance belongs to no part (``mixed``). With several databases, the
    streams cover all of them and the maintenance only one; each query counts in each database.

    Raises:
        UsageError: If the target does not support the maintenance.
        TargetError: If the server is gone.
    """
    workload = workloads.get(plan.workload)
    first = int(plan.total > 1)
    users = [
        (part, tasks(target, workload, part, part.streams_before + number + first))
        for part in plan.parts
        for number in range(plan.streams)
    ]
    every = {_which(task) for _, order in users for task in order}
    seen: dict[Part, set[_Which]] = {part: set() for part in get_args(Part)}

    def whole(part: Part) -> bool:
        return len(seen[part]) == len(every)

    name = f"during-{plan.workload}-{target.name}"
    title = f"Queries on {target.name} before, during and after: {during.title.lower()}"
    beside = MaintenanceDetail(
        workload=plan.workload,
        database=during.database,
        scale=plan.scale,
        streams=plan.total,
        streams_each=plan.streams if plan.first_sets else None,
    )
    detail = plan.base_detail()(stretch_s=during.stretch_s, maintenance=during.name)
    with (
        upkeep(recorder, target, during, beside, lambda: whole("during")) as work,
        recorder.phase(name, title, detail, target.name),
        Crew(target, plan.workload, metering=plan.metering) as crew,
    ):
        conductor = _Conductor(work, whole, during.stretch_s)

        def ended(task: Task, outcome: Outcome) -> None:
            part = conductor.part(outcome.row["t_ns"], outcome.row["end_ns"])
            # Failed queries count too, because a query that always fails must not block the end.
            seen[part].add(_which(task))
            recorder.add("during", [{**outcome.row, "part": part}])
            progress.update(0, 0, f"{task.query.name}, {part}")

        def job(part: StreamPlan, order: Sequence[Task]) -> Callable[[], None]:
            session = crew.session(part.workload)
            stream = Stream(session, recorder.clock, target.name, plan.timeout_s, crew.stop)
            return lambda: stream.run(conductor.rounds(order), ended)

        # All sessions are open before the first query starts.
        crew.run([job(*user) for user in users])
        progress.update(1, 1)


def _which(task: Task) -> _Which:
    return task.database, task.query.name


class _Conductor:
    """Starts the maintenance on schedule and decides how long the streams run."""

    def __init__(self, work: Upkeep, whole: Callable[[Part], bool], stretch_s: float) -> None:
        self._work, self._whole, self._stretch_s = work, whole, stretch_s
        self._until = time.monotonic() + stretch_s
        self._alone = False
        self._lock = threading.Lock()

    def rounds(self, order: Sequence[Task]) -> Iterator[Task]:
        """Repeats the queries of a stream until they are no longer needed."""
        for task in cycle(order):
            if self._is_over():
                return
            yield task

    def part(self, t_ns: int, end_ns: int) -> Part:
        """Returns the part of a query that ran from ``t_ns`` to ``end_ns`` and has just ended."""
        start, end = self._work.course.start_ns, self._work.course.end_ns
        if start is None or end_ns <= start:
            return "before"
        if end is None or end_ns <= end:
            return "during" if t_ns >= start else "mixed"
        return "after" if t_ns >= end else "mixed"

    def _is_over(self) -> bool:
        with self._lock:
            stretched = time.monotonic() >= self._until
            if not self._work.started:
                if stretched and self._whole("before"):
                    self._work.start()
                return False
            if not self._work.ended:
                return False
            if not self._alone:
                self._until, self._alone = time.monotonic() + self._stretch_s, True
                stretched = False
            failed = self._work.course.error is not None
            return failed or (stretched and self._whole("after"))
