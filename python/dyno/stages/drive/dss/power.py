"""The power test: one user runs the 22 queries in the order of stream 0, between RF1 and RF2."""

from __future__ import annotations

from functools import partial

from dyno import workloads
from dyno.bundle.writer import Recorder
from dyno.contracts.target import PowerResult, Target
from dyno.contracts.variants import variants
from dyno.runtime.progress import Progress
from dyno.stages.drive.dss.answer_recorder import AnswerRecorder
from dyno.stages.drive.dss.crew import Crew
from dyno.stages.drive.dss.plan import PowerPlan
from dyno.stages.drive.dss.query import Outcome, Task, tasks
from dyno.stages.drive.dss.refresh import Refresher
from dyno.stages.drive.dss.stream import Stream


def power(recorder: Recorder, target: Target, plan: PowerPlan, progress: Progress) -> PowerResult:
    """Runs the queries sequentially and records each when it ends.

    A failed query is recorded with its error class, and the test continues unless the server is
    gone. The result holds the answers to validation parameters on the loaded data. They come from
    the warm-up pass if the measured pass draws its own parameters or runs after the first refresh
    function.

    Raises:
        TargetError: If the server is gone.
    """
    name = f"power-{plan.workload}-{target.name}"
    asked = partial(plan.base_detail(), variants=variants(target, plan.workload))
    with (
        recorder.phase(name, f"Power test on {target.name}", asked(), target.name) as phase,
        AnswerRecorder(recorder) as notary,
        Crew(target, plan.workload, metering=plan.metering, watched=not plan.is_cold) as crew,
    ):
        test = _Test(recorder, target, plan, progress, notary, crew)
        try:
            crew.run([test.run])
        finally:
            phase.detail = asked(
                errors=dict(test.result.errors) or None, errors_warming=dict(test.cold) or None
            )
        progress.update(1, 1)
    return test.result


class _Test:
    """A power test in progress.

    Attributes:
        cold: Failed queries of the warm-up pass, with the reason.
    """

    def __init__(
        self,
        recorder: Recorder,
        target: Target,
        plan: PowerPlan,
        progress: Progress,
        notary: AnswerRecorder,
        crew: Crew,
    ) -> None:
        workload = workloads.get(plan.workload)
        self._recorder, self._plan, self._progress, self._notary = recorder, plan, progress, notary
        self._warming = (
            tasks(target, workload, plan, plan.stream, "validation") if plan.warm else []
        )
        self._measured = tasks(target, workload, plan, plan.stream)
        clock, stop = recorder.clock, crew.stop
        self._stream = Stream(crew.session(), clock, target.name, plan.timeout_s, stop)
        self._refresher = Refresher(target, workload, plan, crew, notary) if plan.refresh else None
        self._done = 0
        self.result = PowerResult()
        self.cold: dict[str, str] = {}

    def run(self) -> None:
        """Runs the whole test in the thread of the crew."""
        self._stream.run(self._warming, self._warmed, warming=True)
        refresher = self._refresher
        if refresher is None:
            self._stream.run(self._measured, self._ended, self._plan.before_query)
            return
        try:
            refresher.insert(0)
            self._stream.run(self._measured, self._ended, self._plan.before_query)
            # Not earlier: the count would warm the caches for the first query.
            refresher.count()
            refresher.delete(0)
            refresher.count()
        finally:
            refresher.close()
        self._recorder.add_checks(refresher.checks())
        self.result.errors.update(refresher.errors)

    def _warmed(self, task: Task, outcome: Outcome) -> None:
        self._report(f"{task.query.name} (warming)")
        if outcome.answer is None:
            self.cold[task.query.name] = str(outcome.error)
        elif not self._plan.fixed:
            self.result.answers[task.query.name] = outcome.answer

    def _ended(self, task: Task, outcome: Outcome) -> None:
        self._report(task.query.name)
        self._notary.record(outcome)
        name = task.query.name
        if outcome.answer is None:
            self.result.errors[name] = str(outcome.error)
        elif self._plan.fixed:
            self.result.answers[name] = outcome.answer
        else:
            self.result.drawn.append((task.stream, name, outcome.answer))

    def _report(self, label: str) -> None:
        self._done += 1
        self._progress.update(self._done, len(self._warming) + len(self._measured), label)
