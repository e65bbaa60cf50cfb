"""An interval of a certificate: users repeat queries under constant load for a fixed time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle

from dyno import workloads
from dyno.bundle.phases.certify import CertifyDetail
from dyno.bundle.writer import Recorder
from dyno.contracts.databases import workload_of
from dyno.contracts.target import Target
from dyno.contracts.workload import Query, Workload
from dyno.runtime.progress import Progress
from dyno.runtime.seeds import derived
from dyno.stages.drive.dss.answer_recorder import AnswerRecorder
from dyno.stages.drive.dss.crew import Crew
from dyno.stages.drive.dss.plan import DssPlan
from dyno.stages.drive.dss.query import Outcome, Task, task_of
from dyno.stages.drive.dss.stream import Stream

ROUNDS = 16
"""Drawn parameters per user and query; then they repeat."""

_S = 1_000_000_000


@dataclass(frozen=True)
class IntervalPlan(DssPlan):
    """An interval.

    Attributes:
        test: Its name: ``rate``, a query class, or ``combined``.
        queries: Names of the queries that each user cycles through.
        users: Concurrent users, each with a session.
        warmup_s: Time under load before the window.
        duration_s: Length of the window.
        facts: Further fields of the phase detail.
    """

    test: str = "combined"
    queries: tuple[str, ...] = ()
    users: int = 1
    warmup_s: float = 60.0
    duration_s: float = 300.0
    facts: CertifyDetail = CertifyDetail()  # noqa: RUF009  (frozen)

    def detail(self) -> partial[CertifyDetail]:
        """Returns the phase detail known at the start."""
        given = {name: getattr(self.facts, name) for name in self.facts.model_fields_set}
        return partial(
            CertifyDetail,
            workload=workload_of(self.workload),
            test=self.test,
            scale=self.scale,
            seed=self.seed,
            users=self.users,
            queries=self.queries,
            warmup_s=self.warmup_s,
            duration_s=self.duration_s,
            **given,
        )


def interval(recorder: Recorder, target: Target, plan: IntervalPlan, progress: Progress) -> None:
    """Runs the users and records each query that ends in the window.

    The load is constant from the warm-up to the end of the window, so queries that span its start
    and its end balance. Queries that run at the end are cancelled. A failed query is recorded, and
    its user continues.

    Raises:
        TargetError: If the server is gone.
    """
    workload = workloads.get(plan.workload)
    orders = [_tasks(target, workload, plan, user) for user in range(1, plan.users + 1)]
    errors: dict[str, str] = {}
    detail = plan.detail()
    part, many = plan.facts.part, "s"[: plan.users != 1]
    name = f"certify-{f'{part}-' if part else ''}{plan.test}-{target.name}"
    where = f"{target.name}{f' in {part}s' if part else ''}"
    title = f"Certificate on {where}: {plan.test}, {plan.users} user{many}"
    with (
        recorder.phase(name, title, detail(), target.name) as phase,
        AnswerRecorder(recorder) as notary,
        Crew(target, plan.workload, metering="never") as crew,
    ):
        sessions = [crew.session() for _ in orders]  # all are open before the first query starts
        begun = recorder.clock.unix_now_ns()
        start = begun + round(plan.warmup_s * _S)
        end = start + round(plan.duration_s * _S)
        phase.save_detail(detail(window=(start, end)))

        def ended(task: Task, outcome: Outcome) -> None:
            at = outcome.row["end_ns"]
            done, total = (at - begun) / _S, plan.warmup_s + plan.duration_s
            progress.update(done, total, task.query.name if at >= start else "warming up")
            if start <= at < end:
                notary.record(outcome)
                if outcome.error is not None:
                    errors.setdefault(task.query.name, str(outcome.error))

        def job(number: int, order: Sequence[Task]) -> Callable[[], None]:
            one = sessions[number]
            stream = Stream(one, recorder.clock, target.name, plan.timeout_s, crew.stop)
            return lambda: stream.run(cycle(order), ended)

        bell = threading.Timer(plan.warmup_s + plan.duration_s, crew.cancel)
        bell.daemon = True
        bell.start()
        try:
            crew.run([job(number, order) for number, order in enumerate(orders)])
        finally:
            bell.cancel()
            phase.detail = detail(window=(start, end), errors=dict(errors) or None)
        progress.update(1, 1)


def _tasks(target: Target, workload: Workload, plan: IntervalPlan, user: int) -> list[Task]:
    """The queries of a user, each round with new parameters; users begin with different ones."""
    known = {query.name: query for query in workload.queries}
    shift = (user - 1) % len(plan.queries)
    names = [*plan.queries[shift:], *plan.queries[:shift]]
    return [
        replace(task, position=position)
        for position, task in enumerate(_rounds(target, plan, user, [known[one] for one in names]))
    ]


def _rounds(
    target: Target, plan: IntervalPlan, user: int, queries: Sequence[Query]
) -> Iterator[Task]:
    for number in range(ROUNDS):
        for query in queries:
            purpose = f"{plan.test} user {user} {query.name}"
            seed = derived(plan.seed, workload_of(plan.workload), number, purpose)
            values = query.draw(seed, plan.scale)
            yield task_of(target, plan.workload, query, values, user)
