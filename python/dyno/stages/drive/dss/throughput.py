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


@dataclass
class ThroughputResult:
    """Answers of all streams, and the errors."""

    answers: list[StreamAnswer] = field(default_factory=list[StreamAnswer])
    errors: dict[str, str] = field(default_factory=dict[str, str])


def throughput(
    recorder: Recorder, target: Target, plan: ThroughputPlan, progress: Progress
) -> ThroughputResult:
    """Runs the query streams, each on its own session in its own thread.

    The refresh stream runs its pairs sequentially. Pair k starts after 22·(k-1) completed queries
    of all streams, which spreads the pairs over the test at any speed. The inserted rows of a pair
    are counted between its functions, while the streams run. The deletions are counted after the
    test.

    A failed query is recorded with its error class, and its stream continues.

    Raises:
        TargetError: If the server is gone. The other streams are stopped.
    """
    workload = workloads.get(plan.workload)
    result = ThroughputResult()
    streams = {
        number: tasks(target, workload, plan, number) for number in range(1, plan.streams + 1)
    }
    each = len(workload.queries)
    total = each * plan.streams
    name = f"throughput-{plan.workload}-{target.name}"
    title = f"Throughput test on {target.name}"
    asked = partial(plan.base_detail(), variants=variants(target, plan.workload))
    with (
        recorder.phase(name, title, asked(), target.name) as phase,
        AnswerRecorder(recorder) as notary,
        Crew(target, plan.workload, metering=plan.metering) as crew,
    ):
        tally = Tally()

        def ended(task: Task, outcome: Outcome) -> None:
            progress.update(tally.add(), total, f"{plan.streams} streams")
            notary.record(outcome)
            if outcome.answer is not None:
                result.answers.append((task.stream, task.query.name, outcome.answer))
            else:
                failed = f"stream {task.stream}, {task.query.name}"
                result.errors[failed] = str(outcome.error)

        def query_job(queries: list[Task]) -> Callable[[], None]:
            session = crew.session()
            stream = Stream(session, recorder.clock, target.name, plan.timeout_s, crew.stop)
            return lambda: stream.run(queries, ended)

        # All sessions are open before the first query starts.
        jobs = [query_job(queries) for queries in streams.values()]
        refresher = Refresher(target, workload, plan, crew, notary) if plan.refresh else None
        if refresher is not None:
            refresher.prepare(1)  # not during the streams, which may end before the rows are ready

            def refresh_job() -> None:
                for number in range(1, plan.streams + 1):
                    refresher.prepare(number)
                    tally.wait(each * (number - 1), crew.stop)
                    refresher.insert(number)
                    refresher.count(number)  # the rows cannot be counted after the deletion
                    refresher.delete(number)

            jobs.append(refresh_job)
        try:
            crew.run(jobs)
            if refresher is not None:
                crew.run([refresher.count])
                recorder.add_checks(refresher.checks())
        finally:
            if refresher is not None:
                refresher.close()
                result.errors.update(refresher.errors)
            phase.detail = asked(errors=dict(result.errors) or None)
        progress.update(1, 1)
    return result
