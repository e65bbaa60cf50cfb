"""The data model of a run: frozen, validated records. ``run.json`` can hold all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Generic, Literal, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, model_validator
from typing_extensions import TypeVar

from dyno.bundle.detail import Detail, read
from dyno.bundle.phases import DETAILS, PhaseKind
from dyno.bundle.phases.oltp import OltpDetail

SCHEMA_VERSION = 1

RUN_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
"""A run id is a plain name, because files and folders use it."""

Status = Literal["running", "done", "failed", "interrupted"]


class Model(BaseModel):
    """Base of all records: immutable, and strict about unknown fields."""

    # Built on first use: a command needs few of all models.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Clock(Model):
    """One anchor between the monotonic clock and wall time, taken at the start of a run."""

    unix_ns: int
    monotonic_ns: int

    @classmethod
    def now(cls) -> Clock:
        """Anchors the two clocks now."""
        return cls(unix_ns=time.time_ns(), monotonic_ns=time.monotonic_ns())

    def unix_now_ns(self) -> int:
        """Returns wall time in ns since the epoch, driven only by the monotonic clock."""
        return self.unix_ns + time.monotonic_ns() - self.monotonic_ns


class ClockCheck(Model):
    """Drift between the clocks during a run, in seconds.

    Attributes:
        set_s: Step of the wall clock; negative if it was set back.
        asleep_s: Suspend time of the machine, which the monotonic clock excludes; None if the
            system does not report it.
    """

    set_s: float
    asleep_s: float | None = None


Outcome = Literal["valid", "disturbed", "invalid"]
"""The verdict on a run.

``valid``: the values are reliable and comparable. ``disturbed``: the measurement is correct, but
the environment was not quiet (CPU steal, other work, throttling, an unsteady device), so the values
must not be compared or published. ``invalid``: values are wrong or missing.
"""


class Reason(Model):
    """Why a run is not valid.

    Attributes:
        kind: ``invalid``, or ``disturbed`` by the environment.
        code: The code of a rule in ``dyno.decide.validity``: ``client-bound``, ``cpu-steal`` …
        message: One line: the observation and the remedy.
        phase: Name of the phase, if any.
    """

    code: str
    message: str
    phase: str | None = None
    kind: Literal["invalid", "disturbed"] = "invalid"


class Validity(Model):
    """Whether the values of a run are reliable. ``valid`` is None until the run has a verdict."""

    valid: bool | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def verdict(self) -> Outcome | None:
        """The verdict; None until there is one."""
        if self.valid is not False:
            return "valid" if self.valid else None
        only_disturbed = self.reasons and all(one.kind == "disturbed" for one in self.reasons)
        return "disturbed" if only_disturbed else "invalid"


class Taken(Model):
    """CPU time of all processes with one name, in s."""

    name: str
    cpu_s: float


class CpuUse(Model):
    """CPU time by owner over a phase, from counters at its start and end.

    Attributes:
        ticks: Clock ticks of all CPUs, which define the resolution of the other fields.
        total_s: The same in s of CPU time; ``busy_s``, ``steal_s`` and idle time are parts of it.
        own_s: CPU time of Dyno and the servers under test, with all their children.
        servers: Whether server processes were known.
        others: The top other processes by name. Processes that ended meanwhile are missing.
    """

    ticks: int
    total_s: float
    busy_s: float
    steal_s: float
    own_s: float
    servers: bool = False
    others: tuple[Taken, ...] = ()

    def percent(self, seconds: float) -> float:
        """Returns CPU time as a share of all CPUs, in %."""
        return 100 * seconds / self.total_s if self.total_s > 0 else 0.0


D_co = TypeVar("D_co", bound=Detail, default=Detail, covariant=True)
D = TypeVar("D", bound=Detail)


class Phase(Model, Generic[D_co]):
    """A phase of a run on the run clock (ns since the Unix epoch).

    Attributes:
        name: Unique in the run, such as ``load-tpch-postgresql``.
        title: A short display title.
        kind: ``superseded`` is a first attempt that was repeated (``dyno.bundle.superseded``).
        detail: The detail of the stage, a model of its kind (``dyno.bundle.phases``).
        cpu: CPU time by owner; None if the counters could not be read.
    """

    name: str
    title: str
    kind: PhaseKind
    target: str | None = None
    start_ns: int
    end_ns: int | None = None
    status: Status = "running"
    detail: SerializeAsAny[D_co]
    cpu: CpuUse | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, stored: Any) -> Any:
        """Converts a stored detail to the model of its kind. Unknown kinds are rejected below."""
        detail = stored.get("detail") if isinstance(stored, dict) else None
        if isinstance(detail, Detail) or not isinstance(stored, dict):
            return stored
        kind = stored.get("kind")
        model = next((one for name, one in DETAILS.items() if name == kind), Detail)
        return {**stored, "detail": read(model, detail)}

    @property
    def seconds(self) -> float:
        """Duration in seconds; 0 while the phase has no end."""
        return 0.0 if self.end_ns is None else (self.end_ns - self.start_ns) / 1e9

    @property
    def part_of(self) -> str | None:
        """The total level over several databases, if this level is a part of one."""
        return self.detail.part_of if isinstance(self.detail, OltpDetail) else None


def has_detail(phase: Phase, detail: type[D]) -> TypeGuard[Phase[D]]:
    """Whether a phase has this type of detail."""
    return isinstance(phase.detail, detail)


def those(phases: Iterable[Phase], detail: type[D]) -> list[Phase[D]]:
    """Returns the phases with this type of detail."""
    return [phase for phase in phases if has_detail(phase, detail)]


class Applied(Model):
    """A setting that was changed for a run.

    Attributes:
        word: The neutral setting name of Dyno (``dyno.config.settings``).
        asked: The value from the user.
        name: The setting name of the target.
        value: The value sent to the target.
        found: The value that the live system then reported.
        before: The value without the change, restored afterwards.
        how: How it was applied: ``at the start``, ``in each session`` …
        note: A note for the reader, such as a rounding.
        restored: Whether it was restored; None until the target is released.
    """

    word: str
    asked: str
    name: str
    value: str
    found: str
    before: str
    how: str
    note: str = ""
    restored: bool | None = None


Location = Literal["process", "machine", "elsewhere"]
Role = Literal["data", "log", "temp", "backup", "flash"]
"""What a volume holds. ``backup``: backups during a run. ``flash``: the engine's cache on a volume.

The volumes of partitions are also ``partition-1``, ``partition-2`` … (``bundle.carriers``).
"""


class TargetFacts(Model):
    """A database under test. ``url`` never contains a password.

    Attributes:
        version: Starts with the product name in its own spelling: ``PostgreSQL 18.1``.
        settings: Read back from the live system.
        place: Where the database runs, as the target reports: in the Dyno process, in other
            processes of this machine, or elsewhere.
        tuned: Settings changed for this run.
        devices: Block devices of this machine, as its probes name them, by role of their files
            (:data:`Role`, ``partition-1`` …); unknown roles are omitted.
        disks: Facts on the disks under each device (``dyno.host.fields``).
        volumes: Facts on the file system of each role (``storage`` in ``dyno.host.fields``).
        device_notes: Why some devices are unknown, and the remedy.
        inside_notes: What could not be observed inside the database, and the remedy.
        machine: The other machine whose samples are the database's: samples of the probes there
            have the source ``<probe>@<machine>``. Empty: this machine, if any.
        untried: What Dyno was tested against, if not against this product; else empty.
        unseen: Whether it runs on this machine in processes that could not be found.
    """

    url: str
    version: str
    place: Location
    settings: dict[str, str] = Field(default_factory=dict)
    tuned: tuple[Applied, ...] = ()
    devices: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    disks: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    volumes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    device_notes: tuple[str, ...] = ()
    inside_notes: tuple[str, ...] = ()
    machine: str = ""
    untried: str = ""
    unseen: bool = False

    @property
    def product(self) -> str:
        """The product name in its own spelling; empty if the version does not contain it."""
        first = self.version.partition(" ")[0]
        return first if first.isalpha() else ""


class Confined(Model):
    """Resource limits on the processes of a server or of Dyno, and their effect.

    Attributes:
        where: ``server``: the processes of the engine; ``process``: Dyno, with an in-process
            engine.
        version: Version of cgroups; None if the run only selected CPUs.
        limits: The requested limits by word, as the user wrote them.
        devices: Block devices with limited I/O.
        periods: Periods of a CPU quota in which anything ran.
        throttled_periods: Periods in which the quota was used up.
        throttled_s: Total throttled time of all CPUs.
        memory_peak_bytes: Peak memory usage, including the page cache.
        reread_pages: File pages that were evicted to free memory and read again.
        killed: Processes that the kernel killed because no memory could be reclaimed.
        notes: Notes for the reader.
    """

    where: Literal["server", "process"]
    version: int | None = None
    limits: dict[str, str] = Field(default_factory=dict)
    devices: tuple[str, ...] = ()
    periods: int | None = None
    throttled_periods: int | None = None
    throttled_s: float | None = None
    memory_peak_bytes: int | None = None
    reread_pages: int | None = None
    killed: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def throttled_share(self) -> float | None:
        """Share of the periods in which a CPU quota was used up; None without a quota."""
        if not self.periods or self.throttled_periods is None:
            return None
        return self.throttled_periods / self.periods


class Check(Model):
    """One verification of the data or the answers.

    Attributes:
        passed: None if it was skipped; ``message`` then holds the reason.
        workload: The workload whose data or answers it verifies; None if unknown.
    """

    name: str
    target: str
    workload: str | None = None
    passed: bool | None
    message: str
    detail: dict[str, Any] = Field(default_factory=dict)


class Run(Model):
    """The head of a bundle: ``run.json``.

    Attributes:
        host: Facts about this machine (``dyno.host.fields``).
        machines: The same of other machines that the run observed, by name.
    """

    schema_version: int = SCHEMA_VERSION
    run: str = Field(pattern=RUN_ID)
    dyno: str
    verb: str
    workloads: tuple[str, ...] = ()
    plan: dict[str, Any] = Field(default_factory=dict)
    status: Status = "running"
    error: str | None = None
    validity: Validity = Validity()
    clock: Clock
    clock_check: ClockCheck | None = None
    host: dict[str, Any] = Field(default_factory=dict)
    machines: dict[str, dict[str, Any]] = Field(default_factory=dict)
    targets: dict[str, TargetFacts] = Field(default_factory=dict)
    confined: Confined | None = None
    phases: tuple[Phase, ...] = ()
    notices: tuple[str, ...] = ()


class Estimate(Model):
    """A metric that analysis derived from a bundle.

    Attributes:
        name: Dotted name, such as ``io.random_read.best_iops``.
        low, high: Interval bounds, if available.
        source: The formula or the source file.
    """

    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    source: str = ""


class Definition(Model):
    """The description of a rule.

    Attributes:
        about: ``validity``, or ``limit`` for a bottleneck.
        definition: When the rule applies, with its thresholds.
        explanation: Why such values mislead, or how to relieve the bottleneck.
    """

    code: str
    about: str
    definition: str
    explanation: str


class CriterionResult(Model):
    """The result of a criterion at a load level.

    Attributes:
        criterion: Its normal form, such as ``new_order p95 < 500 ms``.
        source: The origin of the limit.
        binding: Whether it affects the exit code: the user named it, or it is a limit of a search.
        passed: None if it could not be evaluated; ``reason`` then says why.
        idle: Whether a missing result is neutral: no limited operation occurred, such as reads, or
            it cannot be separated from other operations.
        value: Value of the whole window, in ``unit``.
        worst: Value of the worst interval against the limit.
        worst_t_ns: Start of that interval, ns since the Unix epoch.
        failing, intervals: Number of intervals that violate the limit, and of all intervals.
        note: What the value refers to, if that needs explanation.
    """

    criterion: str
    source: str
    level: str
    binding: bool = True
    passed: bool | None
    idle: bool = False
    value: float | None = None
    unit: str = ""
    worst: float | None = None
    worst_t_ns: int | None = None
    failing: int = 0
    intervals: int = 0
    note: str = ""
    reason: str = ""


class Verdict(Model):
    """The verdict at the top of the report, in parts.

    Attributes:
        validity: Whether the run is valid, with the reason codes otherwise.
        criteria: Passed and failed criteria; empty if there are none.
        limits: The likely bottleneck of each kind of work; empty if no work was measured.
        measured: What was measured instead; empty unless ``limits`` is empty.
    """

    validity: str
    criteria: str = ""
    limits: str = ""
    measured: str = ""

    @property
    def without_validity(self) -> str:
        """Returns all sentences except the validity."""
        limits = f"Bottleneck: {self.limits}" if self.limits else ""
        return " ".join(filter(None, (self.criteria, limits, self.measured)))

    @property
    def text(self) -> str:
        """Returns all sentences."""
        return f"{self.validity} {self.without_validity}".rstrip()


class Finding(Model):
    """A finding about a run.

    Attributes:
        level: ``verdict``: the top of the report; ``warning``: a measurement is or may be wrong;
            ``criterion``: a limit that passed or failed; ``note``: everything else.
        message: One line.
        evidence: Names of estimates, or short facts.
        result: The result of a criterion.
        verdict: The parts of ``message``, for the verdict.
    """

    code: str
    level: Literal["verdict", "warning", "note", "criterion"]
    message: str
    phase: str | None = None
    evidence: tuple[str, ...] = ()
    result: CriterionResult | None = None
    verdict: Verdict | None = None
