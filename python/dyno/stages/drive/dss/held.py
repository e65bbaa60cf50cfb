"""Query streams that repeat their queries for as long as other work runs, or for a set time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle

from dyno import workloads
from dyno.bundle.model import Clock
from dyno.bundle.phases.dss import HELD, DssDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.meter import Metering
from dyno.contracts.target import Target
from dyno.runtime.progress import Progress
from dyno.stages.drive.dss.answer_recorder import AnswerRecorder
from dyno.stages.drive.dss.crew import Crew
from dyno.stages.drive.dss.plan import StreamedPlan
from dyno.stages.drive.dss.query import Outcome, Task, tasks
from dyno.stages.drive.dss.stream import Stream
from dyno.stages.drive.gate import Start

_S = 1_000_000_000
_POLL_S = 0.05


@dataclass(frozen=True)
class HeldPlan(StreamedPlan):
    """Streams under constant load.

    Attributes:
        warmup_s: Time under load before the window.
        duration_s: Length of the window, unless other work ends it.
        label: Tells several such tests of a run apart; empty for the only one.
    """

    metering: Metering = "never"
    warmup_s: float = 5.0
    duration_s: float = 60.0
    label: str = ""

    def base_detail(self) -> partial[DssDetail]:
        """Returns the phase detail known at the start."""
        return partial(super().base_detail(), test=HELD, label=self.label or None)


class _Course:
    """The progress of a window: its time, and the query that ended last."""

    def __init__(self, clock: Clock, progress: Progress, total_s: float) -> None:
        self.begun_ns = clock.unix_now_ns()
        self._clock, self._progress, self._total_s = clock, progress, total_s
        self._last, self._told_s = "", 0.0

    @property
    def is_over(self) -> bool:
        """Whether the planned time is over."""
        return self._since_s >= self._total_s

    def tell(self, query: str = "") -> None:
        """Reports that a query ended; without one, the time, once a second."""
        now_s = self._since_s
        if query or now_s >= self._told_s + 1:
            self._last, self._told_s = query or self._last, now_s
            self._progress.update(min(now_s, self._total_s), self._total_s, self._last)

    @property
    def _since_s(self) -> float:
        return (self._clock.unix_now_ns() - self.begun_ns) / _S


def held_name(target: str, plan: HeldPlan) -> str:
    """Name of the phase."""
    suffix = plan.label.replace(", ", "-").replace(" ", "-")
    return f"held-{plan.workload}-{target}{suffix and f'-{suffix}'}"


def held(
    recorder: Recorder,
    target: Target,
    plan: HeldPlan,
    progress: Progress,
    start: Start,
    over: threading.Event | None = None,
) -> None:
    """Runs the streams and records each query that ends in the window.

    Each stream repeats its queries in its order, with the same parameters each time. The load is
    constant from the warm-up to the end of the window, so queries that span its ends balance. The
    queries that run at the end are cancelled.

    Args:
        recorder: Receives the record.
        target: The target.
        plan: The streams.
        progress: Receives the progress.
        start: Opens the window together with other work.
        over: Ends the window; without it, the window lasts ``plan.duration_s``.

    Raises:
        TargetError: If the server is gone.
        Interrupted: If the work was cancelled.
    """
    workload = workloads.get(plan.workload)
    orders = [tasks(target, workload, plan, number) for number in range(1, plan.streams + 1)]
    errors: dict[str, str] = {}
    detail = plan.base_detail()
    name = held_name(target.name, plan)
    many = f"{plan.streams} stream{'s'[: plan.streams != 1]}"
    title = f"{workload.title} on {target.name}, {many}{plan.label and f', {plan.label}'}"
    with (
        recorder.phase(name, title, detail(), target.name) as phase,
        AnswerRecorder(recorder) as notary,
        Crew(target, plan.workload, metering=plan.metering) as crew,
    ):
        sessions = [crew.session() for _ in orders]
        start.ready(crew.cancel)
        course = _Course(recorder.clock, progress, plan.warmup_s + plan.duration_s)
        window = course.begun_ns + round(plan.warmup_s * _S)
        phase.save_detail(detail(window=(window, window + round(plan.duration_s * _S))))

        def ended(task: Task, outcome: Outcome) -> None:
            course.tell(task.query.name)
            if outcome.row["end_ns"] >= window:
                notary.record(outcome)
                if outcome.error is not None:
                    errors.setdefault(task.query.name, str(outcome.error))

        def job(number: int, order: Sequence[Task]) -> Callable[[], None]:
            one = sessions[number]
            stream = Stream(one, recorder.clock, target.name, plan.timeout_s, crew.stop)
            return lambda: stream.run(cycle(order), ended)

        rung: list[int] = []

        def ring() -> None:
            """Stops the streams once the window is over, unless they have ended before."""
            while not crew.stop.wait(_POLL_S):
                if course.is_over if over is None else over.is_set():
                    break
                course.tell()
            if not crew.stop.is_set():
                rung.append(recorder.clock.unix_now_ns())
                crew.cancel()

        bell = threading.Thread(target=ring, daemon=True, name="dyno-bell")
        bell.start()
        try:
            crew.run([job(number, order) for number, order in enumerate(orders)])
        finally:
            crew.stop.set()
            bell.join()
            end = rung[0] if rung else recorder.clock.unix_now_ns()
            phase.detail = detail(window=(window, max(window, end)), errors=dict(errors) or None)
        start.check()
