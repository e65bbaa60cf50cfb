"""Stage: loads and counts the rows of a workload, then adds keys, indexes and statistics."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Literal

from dyno import workloads
from dyno.bundle.model import Check
from dyno.bundle.phases.check import CheckDetail
from dyno.bundle.phases.index import IndexDetail
from dyno.bundle.phases.load import LoadDetail, LoadedTable, Step
from dyno.bundle.phases.provision import ProvisionDetail
from dyno.bundle.writer import Recorder
from dyno.contracts import isolation
from dyno.contracts.databases import named, split, workload_of
from dyno.contracts.layout import Layout
from dyno.contracts.logged import logged, since
from dyno.contracts.target import (
    Connection,
    Loaded,
    LoadOutcome,
    LoadPlan,
    Target,
    Unfinished,
)
from dyno.contracts.workload import Workload
from dyno.errors import DynoError, TargetError, UsageError
from dyno.runtime.engine_calls import interruptible, watched
from dyno.runtime.progress import Progress
from dyno.safety.messages import valueless
from dyno.stages import resume
from dyno.workloads.rows import check_rows, expected_rows
from dyno.workspace.footprint import Measured, Meter, Peak, Probe, StepRecord, occupied


def load(
    recorder: Recorder,
    target: Target,
    plan: LoadPlan,
    progress: Progress,
    *,
    replace: bool,
    alone: bool = True,
    others: Sequence[str] = (),
) -> LoadOutcome:
    """Creates the tables and loads the rows, without intermediate files.

    ``alone`` is false for one of several loads that differ in their stream count. The name of such
    a load contains the count, and its rows are counted here, because no later step counts them.
    ``others`` are databases that will be replaced after this one. They are marked as incomplete as
    soon as this replacement was accepted.

    Raises:
        UsageError: If the target has such tables and neither ``replace`` nor ``plan.resume`` is
            set; or if there is no load to resume, or its data differs.
        TargetError: If the target fails.
    """
    workload = workloads.get(plan.workload)
    name = f"load-{plan.workload}-{target.name}"
    title = f"Load {workload.title} into {target.name}{_which(plan.workload)}"
    if not alone:
        name = f"load-{plan.workload}-streams-{plan.streams}-{target.name}"
        title = f"{title}, streams: {plan.streams}"
    asked = partial(
        LoadDetail,
        workload=workload_of(plan.workload),
        database=_database(plan.workload),
        scale=plan.scale,
        streams=plan.streams,
        seed=plan.seed,
        days=plan.days,
        layout=_described(plan.layout),
    )
    with recorder.phase(name, title, asked(), target.name) as phase:
        with Meter() as meter:
            start = time.monotonic()
            with meter.watching(*_probe(target)) as created:
                found = _prepare(target, plan, replace=replace)
                resume.forget_whole(target, others)
                begun = partial(
                    asked,
                    resumed_parts=found.parts if found else None,
                    resumed_rows=found.rows if found else None,
                )
                phase.detail = begun()
            seconds = time.monotonic() - start
            with meter.watching(*_probe(target)) as filled:
                outcome = watched(
                    lambda control: target.load(plan, control), progress, rate(time.monotonic)
                )
        size = text_bytes(workload, outcome)
        phase.detail = begun(
            rows=outcome.rows,
            bytes=outcome.bytes,
            text_bytes=size,
            seconds=outcome.seconds,
            tables=tuple(LoadedTable.model_validate(table) for table in outcome.tables),
            space=(
                *(() if plan.resume else (_measured("create", created, seconds),)),
                _measured("load", filled, outcome.seconds, size),
            ),
        )
    if not alone:
        _count(recorder, target, plan)
    return outcome


def _database(name: str) -> int | None:
    """Returns the number of the database for the phase detail; None for the first."""
    _, number = split(name)
    return number if number > 1 else None


def _which(name: str) -> str:
    """Returns the database as text for a phase title."""
    number = _database(name)
    return "" if number is None else f", database {number}"


def text_bytes(workload: Workload, outcome: LoadOutcome) -> int:
    """Returns the size of the loaded rows as ``.tbl`` files, which is the same for every target."""
    return round(sum(workload.row_bytes[str(t["table"])] * int(t["rows"]) for t in outcome.tables))


def _prepare(target: Target, plan: LoadPlan, *, replace: bool) -> Unfinished | None:
    """Creates empty marked tables, or returns the load to resume."""
    if plan.resume:
        return resume.require(target, plan)
    if not replace:
        resume.refuse_unfinished(target, plan.workload)
    target.create_tables(plan.workload, replace=replace, layout=plan.layout)
    target.mark(plan.workload, loaded(plan))
    return None


def rate(clock: Callable[[], float]) -> Callable[[dict[str, Any]], str]:
    """Returns a formatter of the load progress: rows, MB (10^6 bytes) and MB/s."""
    start = clock()

    def words(state: dict[str, Any]) -> str:
        rows, megabytes = int(state["done"]), int(state["bytes"]) / 1e6
        speed = megabytes / max(clock() - start, 1e-3)
        return f"{rows / 1e6:.1f}M rows {megabytes:.0f} MB {speed:.0f} MB/s"

    return words


def _count(recorder: Recorder, target: Target, plan: LoadPlan) -> None:
    """Counts the rows of a load that only measures the rate.

    Raises:
        TargetError: If a row count differs from the generated count.
    """
    name = f"count-{plan.workload}-streams-{plan.streams}-{target.name}"
    with recorder.phase(name, f"Count rows in {target.name}", CheckDetail(), target.name):
        session = target.connect(plan.workload)
        try:
            expected = expected_rows(plan.workload, loaded(plan))
            checks = interruptible(
                lambda: check_rows(target.name, session, expected), session.cancel
            )
        finally:
            session.close()
        checks = [
            item.model_copy(update={"name": f"{item.name} with {plan.streams} streams"})
            for item in checks
        ]
        recorder.add_checks(checks)
    _whole(checks)


def index(recorder: Recorder, target: Target, plan: LoadPlan, progress: Progress) -> None:
    """Adds keys, indexes and statistics, and times each step."""
    name = f"index-{plan.workload}-{target.name}"
    title = f"Keys, indexes and statistics in {target.name}{_which(plan.workload)}"
    stop = threading.Event()
    asked = partial(
        IndexDetail, workload=workload_of(plan.workload), database=_database(plan.workload)
    )
    with recorder.phase(name, title, asked(), target.name) as phase:
        before = logged(target)
        steps = interruptible(
            lambda: target.index(plan.workload, stop, progress.update, plan.layout), stop.set
        )
        phase.detail = asked(
            space=tuple(Step.model_validate(step) for step in steps.pop("space", [])),
            notes=tuple(steps.pop("notes", [])),
            steps=steps,
            log_bytes=since(target, before),
        )


def setup(recorder: Recorder, target: Target, plan: LoadPlan, progress: Progress) -> None:
    """Runs the statements of the workload's setup in order, and times each.

    A setup that was interrupted starts again: its tables, which the mark names, are dropped first.

    Raises:
        UsageError: If the interrupted load was to create other tables.
        TargetError: If a statement fails.
    """
    workload = workloads.get(plan.workload)
    title = f"Setup of {workload.title} in {target.name}{_which(plan.workload)}"
    asked = partial(
        ProvisionDetail, workload=workload_of(plan.workload), database=_database(plan.workload)
    )
    held = target.loaded(plan.workload)
    if held is None or held.setup != workload.creates:
        raise UsageError(
            f"The interrupted load of {workload.called} creates other tables in its setup; use "
            "--replace."
        )
    statements = workload.setup(target.name)
    seconds: dict[str, float] = {}
    name = f"setup-{plan.workload}-{target.name}"
    with recorder.phase(name, title, asked(), target.name) as phase:
        session = target.connect(plan.workload)

        def run(text: str) -> None:
            interruptible(lambda: session.execute(text), session.cancel)

        try:
            for table in reversed(workload.creates):
                run(f"DROP TABLE IF EXISTS {table}")
            for number, (step, text) in enumerate(statements):
                progress.update(number, len(statements), step)
                start = time.monotonic()
                with _with_remedy(resumed=plan.resume):
                    run(text)
                seconds[step] = time.monotonic() - start
        finally:
            session.close()
            phase.detail = asked(statements=seconds, seconds=sum(seconds.values()))
        progress.update(1, 1)


@contextlib.contextmanager
def _with_remedy(*, resumed: bool) -> Generator[None]:
    """Takes values out of the failure of a statement, and adds the remedy in a resumed setup.

    Its tables are dropped before it starts again, but not what it added to loaded tables, such as
    an index: that must not be taken for somebody else's, nor somebody else's for that.
    """
    try:
        yield
    except DynoError as error:
        reason = valueless(error.kind, str(error), written=True)
        if resumed:
            reason = (
                f"{reason.rstrip('.')}. If the interrupted setup left it there, load again "
                "with --replace."
            )
        error.args = (reason,)
        raise


def check(
    recorder: Recorder,
    target: Target,
    workload_name: str,
    loaded: Loaded,
    after: Literal["load", "run"],
) -> list[Check]:
    """Verifies the data in the target: row counts or consistency conditions.

    Returns:
        All checks, including skipped ones.
    """
    workload = workloads.get(workload_name)
    name = f"check-{workload_name}-{target.name}-{after}"
    title = f"Check {target.name} after the {after}{_which(workload_name)}"
    with recorder.phase(name, title, CheckDetail(), target.name):
        sessions = _Sessions(target, workload_name)
        checks = sessions.work(lambda: workload.check(target.name, sessions.open, loaded, after))
        checks = named(checks, workload_name)
        recorder.add_checks(checks)
    return checks


def check_isolation(
    recorder: Recorder, target: Target, workload_name: str, level: str | None
) -> list[Check]:
    """Verifies the isolation of transactions at ``level``; None selects the target's default.

    Raises:
        UsageError: If the workload has no isolation tests, or the target does not support the
            level.
    """
    workload = workloads.get(workload_name)
    prove = workload.isolation
    if prove is None:
        raise UsageError(f"{workload_name} has no isolation tests; remove --isolation.")
    found, level = isolation.require(target, level)
    name = f"isolation-{workload_name}-{target.name}"
    title = f"Isolation on {target.name}{_which(workload_name)}"
    detail = CheckDetail(
        workload=workload_of(workload_name),
        database=_database(workload_name),
        level=level,
        default=found.default,
    )
    with recorder.phase(name, title, detail, target.name):
        sessions = _Sessions(target, workload_name)
        proofs = sessions.work(lambda: prove(target.name, sessions.open, found, level))
        checks = named(proofs, workload_name)
        recorder.add_checks(checks)
    return checks


class _Sessions:
    """Sessions of one target. Ctrl-C cancels their statements."""

    def __init__(self, target: Target, workload: str) -> None:
        self._target, self._workload = target, workload
        self._opened: list[Connection] = []

    def open(self) -> Connection:
        """Opens one more session."""
        session = self._target.connect(workloads.place_of(self._workload))
        self._opened.append(session)
        return session

    def work(self, prove: Callable[[], list[Check]]) -> list[Check]:
        """Runs checks that use the sessions.

        Raises:
            Interrupted: After Ctrl-C.
        """
        return interruptible(prove, self._cancel)

    def _cancel(self) -> None:
        for session in list(self._opened):
            session.cancel()


def accept(target: Target, plan: LoadPlan, checks: list[Check]) -> None:
    """Marks loaded data as complete, or stops if it differs from the generated data.

    Raises:
        TargetError: With the first failed check.
    """
    _whole(checks)
    target.mark(plan.workload, dataclasses.replace(loaded(plan), complete=True))


def _whole(checks: list[Check]) -> None:
    failed = [item for item in checks if item.passed is False]
    if failed:
        raise TargetError(
            f"The load is incomplete: {failed[0].name}: {failed[0].message}", kind="database"
        )


def loaded(plan: LoadPlan) -> Loaded:
    """Returns the mark of this load while it is incomplete."""
    layout = "" if plan.layout is None else plan.layout.model_dump_json(exclude_defaults=True)
    creates = workloads.get(plan.workload).creates
    return Loaded(
        plan.scale, plan.seed, complete=False, layout=layout, days=plan.days, setup=creates
    )


def _described(layout: Layout | None) -> dict[str, Any] | None:
    """Returns the layout and its notes for the detail of a phase."""
    return None if layout is None else layout.model_dump(mode="json", exclude_defaults=True)


def _probe(target: Target) -> tuple[Probe, bool] | tuple[None, bool]:
    """Returns the probe for the space of a target, and whether it can run during the load."""
    if isinstance(target, Measured):
        return target.space_probe() or (None, False)
    paths = target.data_paths()
    return (partial(occupied, paths), True) if paths else (None, False)


def _measured(step: str, peak: Peak, seconds: float, moved: int | None = None) -> Step:
    record = StepRecord(
        step=step,
        kind=step,
        seconds=seconds,
        moved_bytes=moved,
        extra_peak_bytes=peak.extra,
        extra_rest_bytes=peak.growth,
    )
    return Step.model_validate(record.record())
