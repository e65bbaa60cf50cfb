"""Maintenance during a workload: a part before, the maintenance, and a part after."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from dyno.bundle.model import Check
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.bundle.writer import Recorder
from dyno.contracts import databases
from dyno.contracts.logged import logged, since
from dyno.contracts.maintenance import (
    Job,
    Maintenance,
    Preparing,
    Sized,
    Stepped,
    Writer,
    prepare,
)
from dyno.contracts.target import Target
from dyno.errors import DynoError, Interrupted

_TITLES: dict[Maintenance, str] = {
    "integrity-check": "Integrity check",
    "reindex": "Online reindex",
    "backup": "Online backup",
    "vacuum": "Vacuum",
    "quick-check": "Quick check",
    "sliding-window": "Sliding window",
    "create-database": "Creation of a database",
}
_SAMPLE_S = 0.2
_END_S = 15.0


@dataclass(frozen=True)
class DuringPlan:
    """The maintenance and the length of the parts to compare.

    Attributes:
        stretch_s: Minimum length of the parts before, during and after the maintenance. The
            maintenance repeats until then, because a short disturbance is not measurable.
        limit_s: Maximum length of the maintenance. Beyond it the maintenance is stopped and the run
            is not valid.
        database: With several databases, the number of the one under maintenance. None with a
            single database, or if the maintenance always covers all.
    """

    name: Maintenance
    stretch_s: float
    limit_s: float
    database: int | None = None

    @property
    def title(self) -> str:
        """The display name."""
        which = "" if self.database is None else f" of database {self.database}"
        return f"{_TITLES[self.name]}{which}"


@dataclass
class Course:
    """Progress and result of the maintenance.

    Attributes:
        start_ns, end_ns: Start and end on the run clock; None before them.
        rounds: Number of complete repeats.
        error: Why the maintenance did not complete, if it did not.
        peak: Peak disk space in bytes, as far as the server reports it.
        log: Bytes that the server wrote to its log meanwhile; None if unknown.
    """

    start_ns: int | None = None
    end_ns: int | None = None
    rounds: int = 0
    error: str | None = None
    peak: int | None = None
    log: int | None = None
    checks: dict[str, Check] = field(default_factory=dict[str, Check])


class Upkeep:
    """Runs the maintenance in a separate thread and records it as a phase of the run."""

    def __init__(
        self,
        recorder: Recorder,
        target: Target,
        plan: DuringPlan,
        job: Job,
        beside: MaintenanceDetail,
        enough: Callable[[], bool],
        estimate_s: float | None = None,
    ) -> None:
        """Prepares the maintenance without starting it.

        Args:
            recorder: Receives the phase, the checks, and the space over time.
            target: The target.
            plan: The plan.
            job: The maintenance itself.
            beside: The concurrent work: ``workload``, and its load ``level`` if it has one; with
                several databases, the ``database`` under maintenance.
            enough: Whether the work overlapped the maintenance long enough; otherwise it repeats.
            estimate_s: How long the preparation of the job took.
        """
        self.course = Course()
        self._recorder = recorder
        self._target = target
        self._plan = plan
        self._job = job
        self._beside = beside
        self._enough = enough
        self._estimate_s = estimate_s
        self._stop = threading.Event()
        self._ended = threading.Event()
        self._limit = threading.Timer(plan.limit_s, self._too_long)
        self._limit.daemon = True
        self._thread = threading.Thread(target=self._run, daemon=True, name="dyno-maintenance")

    def start(self) -> None:
        """Starts the maintenance."""
        self._thread.start()

    @property
    def started(self) -> bool:
        """Whether the maintenance has started."""
        return self._thread.ident is not None

    @property
    def ended(self) -> bool:
        """Whether the maintenance has ended, with or without an error."""
        return self._ended.is_set()

    def stop(self, reason: str = "stopped with the run") -> None:
        """Stops a running maintenance and waits for its end. Repeats the cancellation if needed."""
        if not self.started:
            return
        deadline = time.monotonic() + _END_S
        while not self._ended.is_set() and time.monotonic() < deadline:
            self.course.error = self.course.error or reason
            self._stop.set()
            self._job.cancel()
            self._ended.wait(0.1)
        self._thread.join(_END_S)

    def _too_long(self) -> None:
        self.stop(f"exceeded the limit of {self._plan.limit_s:g} s")

    def _run(self) -> None:
        sampler = threading.Thread(target=self._watch, daemon=True, name="dyno-space")
        words = (self._plan.name, _maintained(self._plan, self._beside), self._target.name)
        name = "-".join([*words, *filter(None, [self._beside.level])])
        try:
            with self._recorder.phase(
                name, self._plan.title, self._beside, self._target.name
            ) as phase:
                written = logged(self._target)
                self.course.start_ns = self._recorder.clock.unix_now_ns()
                sampler.start()
                self._limit.start()
                try:
                    self._rounds()
                except BaseException as error:
                    self.course.error = self.course.error or str(error) or type(error).__name__
                    raise
                finally:
                    self.course.end_ns = self._recorder.clock.unix_now_ns()
                    self._limit.cancel()
                    self._stop.set()
                    self.course.log = since(self._target, written)
                    sampler.join(_END_S)
                    phase.detail = self.detail()
        except DynoError as error:
            self.course.error = self.course.error or str(error)
        finally:
            with contextlib.suppress(DynoError):
                self._recorder.add_checks(self.course.checks.values())
            self._ended.set()

    def _rounds(self) -> None:
        until = time.monotonic() + self._plan.stretch_s
        while True:
            found = self._job.run(self._stop, _ignore)
            for check in databases.named(found, self._plan.database):
                # A failed check of any round is final.
                if self.course.checks.get(check.name, check).passed is not False:
                    self.course.checks[check.name] = check
            self.course.rounds += 1
            if time.monotonic() >= until and self._enough():
                return
            if self._stop.is_set():
                raise Interrupted("The maintenance was stopped.")

    def _watch(self) -> None:
        while True:
            taken = self._job.space()
            if taken is not None:
                self.course.peak = max(self.course.peak or 0, taken)
                row = {
                    "t_ns": self._recorder.clock.unix_now_ns(),
                    "source": "maintenance",
                    "subject": self._plan.name,
                    "metric": "space",
                    "value": float(taken),
                    "unit": "B",
                }
                with contextlib.suppress(DynoError):
                    self._recorder.add("samples", [row])
            # One reading after the end, because the server reports the observed peak there.
            if self._stop.is_set():
                return
            self._stop.wait(_SAMPLE_S)

    def detail(self) -> MaintenanceDetail:
        """Returns the phase detail."""
        beside, estimate = self._beside, self._job.estimate
        written = self._job.written if isinstance(self._job, Writer) else None
        return MaintenanceDetail(
            workload=beside.workload,
            database=beside.database,
            level=beside.level,
            warmup_s=beside.warmup_s,
            scale=beside.scale,
            streams=beside.streams,
            streams_each=beside.streams_each,
            maintenance=self._plan.name,
            method=self._job.method,
            start_ns=self.course.start_ns,
            end_ns=self.course.end_ns,
            rounds=self.course.rounds,
            error=self.course.error,
            stretch_s=self._plan.stretch_s,
            space_peak_bytes=self.course.peak,
            space_estimate_bytes=estimate.size,
            space_estimate_source=estimate.source,
            estimate_s=self._estimate_s if estimate.seconds is None else estimate.seconds,
            log_bytes=self.course.log,
            steps_s=dict(self._job.step_seconds) if isinstance(self._job, Stepped) else None,
            steps_bytes=dict(self._job.step_bytes) if isinstance(self._job, Sized) else None,
            written_bytes=written.size if written else None,
            written_s=written.seconds if written else None,
        )


@contextlib.contextmanager
def upkeep(
    recorder: Recorder,
    target: Target,
    plan: DuringPlan,
    beside: MaintenanceDetail,
    enough: Callable[[], bool] = lambda: True,
) -> Generator[Upkeep]:
    """Yields the maintenance, ready to start. Stops and cleans up at exit. See :class:`Upkeep`.

    Raises:
        DiskFullError: If it does not fit on this machine.
        UsageError: If the target does not support it.
    """
    start = time.monotonic()
    job = prepare(target, _maintained(plan, beside), plan.name)
    found = Upkeep(recorder, target, plan, job, beside, enough, time.monotonic() - start)
    try:
        if isinstance(job, Preparing):
            job.prepare()
        yield found
    finally:
        found.stop()
        job.close()


def estimated(
    recorder: Recorder, target: Target, plan: DuringPlan, workload: str
) -> MaintenanceDetail:
    """Prepares the maintenance, records its estimate, and runs nothing.

    Raises:
        UsageError: If the target does not support it.
    """
    beside = MaintenanceDetail(
        workload=workload, database=plan.database, maintenance=plan.name, estimate_only=True
    )
    name = "-".join([plan.name, _maintained(plan, beside), target.name, "estimate"])
    title = f"{plan.title}: estimate"
    with recorder.phase(name, title, beside, target.name) as phase:
        start = time.monotonic()
        job = prepare(target, _maintained(plan, beside), plan.name)
        prepared_s = time.monotonic() - start
        try:
            estimate = job.estimate
            phase.detail = beside.model_copy(
                update={
                    "method": job.method,
                    "space_estimate_bytes": estimate.size,
                    "space_estimate_source": estimate.source,
                    "estimate_s": prepared_s if estimate.seconds is None else estimate.seconds,
                }
            )
        finally:
            job.close()
        return phase.detail


def _maintained(plan: DuringPlan, beside: MaintenanceDetail) -> str:
    """Returns the name of the database under maintenance."""
    return databases.name(str(beside.workload), plan.database or 1)


def _ignore(done: int, total: int, text: str) -> None:
    """Ignores the progress of single steps: the progress line shows the load level."""
