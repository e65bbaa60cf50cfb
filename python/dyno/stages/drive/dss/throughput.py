"""The throughput test: concurrent query streams and a refresh stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from dyno import workloads
from dyno.bundle.writer import Recorder
from dyno.contracts.target import StreamAnswer, Target
from dyno.contracts.variants import variants
from dyno.runtime.progress import Progress
from dyno.stages.drive.dss.answer_recorder import AnswerRecorder
from dyno.stages.drive.dss.crew import Crew, Tally
from dyno.stages.drive.dss.plan import ThroughputPlan
from dyno.stages.drive.dss.query import Outcome, Task, tasks
from dyno.stages.drive.dss.refresh import Refresher
from dyno.stages.drive.dss.stream import Stream
from dyno.stages.drive.gate import Start


@dataclass
class ThroughputResult:
    """Answers of all streams, and the errors."""

    answers: list[StreamAnswer] = field(default_factory=list[StreamAnswer])
    errors: dict[str, str] = field(default_factory=dict[str, str])


def throughput_phase(target: str, plan: ThroughputPlan) -> str:
    """Name of the phase."""
    return f"throughput-{plan.workload}-{target}"


def throughput(
    recorder: Recorder,
    target: Target,
    plan: ThroughputPlan,
    progress: Progress,
    start: Start | None = None,
) -> ThroughputResult:
    """Runs the query streams, each on its own session in its own thread.

    Several databases have as many streams each, all at the same time. The refresh stream of a
    database runs its pairs sequentially. Pair k starts after 22·(k-1) completed queries of its
    database, which spreads the pairs over the test at any speed. The inserted rows of a pair are
    counted between its functions, while the streams run. The deletions are counted after the test.

    A failed query is recorded with its error class, and its stream continues. With ``start``, the
    streams of several targets begin together.

    Raises:
        TargetError: If the server is gone. The other streams are stopped.
        Interrupted: If other work cancelled this one.
    """
    workload = workloads.get(plan.workload)
    result = ThroughputResult()
    each = len(workload.order(1, plan.seed))
    name = throughput_phase(target.name, plan)
    title = f"Throughput test on {target.name}"
    asked = partial(plan.base_detail(), variants=variants(target, plan.workload), queries_each=each)
    with (
        recorder.phase(name, title, asked(), target.name) as phase,
        AnswerRecorder(recorder) as notary,
        Crew(target, plan.workload, metering=plan.metering, watched=not plan.is_cold) as crew,
    ):
        every = Tally()

        def ended(task: Task, outcome: Outcome) -> None:
            progress.update(every.add(), each * plan.total, f"{plan.total} streams")
            notary.record(outcome)
            if outcome.answer is not None:
                result.answers.append((task.stream, task.query.name, outcome.answer))
            else:
                failed = f"stream {task.stream}, {task.query.name}"
                result.errors[failed] = str(outcome.error)

        # All sessions are open before the first query starts.
        loads = [_Load(recorder, target, part, ended, crew, notary) for part in plan.parts]
        refreshers = [one.refresher for one in loads if one.refresher is not None]
        try:
            if start is not None:
                start.ready(crew.cancel)
            crew.run([job for one in loads for job in one.jobs()])
            if start is not None:
                start.check()
            crew.run([one.count for one in refreshers])
            recorder.add_checks(check for one in refreshers for check in one.checks())
        finally:
            for refresher in refreshers:
                refresher.close()
                result.errors.update(refresher.errors)
            phase.detail = asked(errors=dict(result.errors) or None)
        progress.update(1, 1)
    return result


class _Load:
    """The streams of one database.

    Attributes:
        refresher: Its refresh stream, if any.
    """

    def __init__(
        self,
        recorder: Recorder,
        target: Target,
        plan: ThroughputPlan,
        ended: Callable[[Task, Outcome], None],
        crew: Crew,
        notary: AnswerRecorder,
    ) -> None:
        """Opens all sessions."""
        self._workload = workloads.get(plan.workload)
        self._plan, self._ended, self._crew = plan, ended, crew
        self._tally = Tally()
        stop = crew.stop
        self._streams = [
            (
                tasks(target, self._workload, plan, plan.streams_before + number),
                Stream(
                    crew.session(plan.workload), recorder.clock, target.name, plan.timeout_s, stop
                ),
            )
            for number in range(1, plan.streams + 1)
        ]
        self.refresher = (
            Refresher(target, self._workload, plan, crew, notary) if plan.refresh else None
        )
        if self.refresher is not None:
            # Not during the streams, which may end before the rows are ready.
            self.refresher.prepare(1)

    def jobs(self) -> list[Callable[[], None]]:
        """The work of each session."""
        jobs = [partial(stream.run, queries, self._count) for queries, stream in self._streams]
        if self.refresher is None:
            return [*jobs]
        return [*jobs, partial(self._refresh, self.refresher)]

    def _count(self, task: Task, outcome: Outcome) -> None:
        self._tally.add()
        self._ended(task, outcome)

    def _refresh(self, refresher: Refresher) -> None:
        for number in range(1, self._plan.streams + 1):
            refresher.prepare(number)
            self._tally.wait(len(self._workload.queries) * (number - 1), self._crew.stop)
            refresher.insert(number)
            refresher.count(number)  # the rows cannot be counted after the deletion
            refresher.delete(number)
