"""The words of a run as frozen, validated data. Everything here can be read from ``run.json``."""

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
"""A run's id is a plain name: files and folders are named after it."""

Status = Literal["running", "done", "failed", "interrupted"]


class Model(BaseModel):
    """Base of all records: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Clock(Model):
    """One anchor between the monotonic clock and wall time, taken when a run starts."""

    unix_ns: int
    monotonic_ns: int

    @classmethod
    def now(cls) -> Clock:
        """Anchors the two clocks at this moment."""
        return cls(unix_ns=time.time_ns(), monotonic_ns=time.monotonic_ns())

    def unix_now_ns(self) -> int:
        """Wall time in ns since the epoch, moving with the monotonic clock only."""
        return self.unix_ns + time.monotonic_ns() - self.monotonic_ns


class ClockCheck(Model):
    """How the clocks went apart during a run, seconds.

    Attributes:
        set_s: By how much the wall clock was set forward; below zero backward.
        asleep_s: How long the machine slept, which the monotonic clock does not count; None where
            the system does not tell.
    """

    set_s: float
    asleep_s: float | None = None


Outcome = Literal["valid", "disturbed", "invalid"]
"""The verdict on a run, in one word.

``valid``: the values may be believed and compared. ``disturbed``: measured correctly, but the
environment was not quiet (CPU steal, other work, throttling, an unsteady device), so the values
must not be compared or published. ``invalid``: the values are wrong, or part of them is missing.
"""


class Reason(Model):
    """Why a run is not valid.

    Attributes:
        kind: ``invalid``, or ``disturbed`` by the environment.
        code: The code of a rule in ``dyno.decide.validity``: ``client-bound``, ``cpu-steal`` …
        message: One line: what was observed and what to change.
        phase: Name of the phase, if one.
    """

    code: str
    message: str
    phase: str | None = None
    kind: Literal["invalid", "disturbed"] = "invalid"


class Validity(Model):
    """Whether the values of a run may be believed. ``valid`` is None until the run is judged."""

    valid: bool | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def verdict(self) -> Outcome | None:
        """The verdict in one word; None until the run is judged."""
        if self.valid is not False:
            return "valid" if self.valid else None
        only_disturbed = self.reasons and all(one.kind == "disturbed" for one in self.reasons)
        return "disturbed" if only_disturbed else "invalid"


class Taken(Model):
    """CPU time that processes of a name used, in s."""

    name: str
    cpu_s: float


class CpuUse(Model):
    """Whose work the CPUs did over a phase, by counters at its begin and end.

    Attributes:
        ticks: Of all CPUs together; so many are the resolution of what follows.
        total_s: The same in s of CPU time; ``busy_s``, ``steal_s`` and idle time are parts of it.
        own_s: Used by Dyno and the servers under test, with all their children.
        servers: Whether processes of servers were known.
        others: Other processes that used the most, by name, a few of them. Those that ended
            meanwhile are missing.
    """

    ticks: int
    total_s: float
    busy_s: float
    steal_s: float
    own_s: float
    servers: bool = False
    others: tuple[Taken, ...] = ()

    def percent(self, seconds: float) -> float:
        """CPU time as a share of all CPUs, in %."""
        return 100 * seconds / self.total_s if self.total_s > 0 else 0.0


D_co = TypeVar("D_co", bound=Detail, default=Detail, covariant=True)
D = TypeVar("D", bound=Detail)


class Phase(Model, Generic[D_co]):
    """One stage's stretch of a run on the run's clock (ns since the Unix epoch).

    Attributes:
        name: Unique in the run, such as ``load-tpch-postgresql``.
        title: A few words for people.
        kind: ``superseded`` is a first attempt that was repeated (``dyno.bundle.superseded``).
        detail: What the stage tells of itself, a model of its kind (``dyno.bundle.phases``).
        cpu: Whose work the CPUs did meanwhile; None where the counters could not be read.
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
        """A stored detail becomes the model of its kind; an unknown kind is refused below."""
        detail = stored.get("detail") if isinstance(stored, dict) else None
        if isinstance(detail, Detail) or not isinstance(stored, dict):
            return stored
        kind = stored.get("kind")
        model = next((one for name, one in DETAILS.items() if name == kind), Detail)
        return {**stored, "detail": read(model, detail)}

    @property
    def seconds(self) -> float:
        """Length in seconds; 0 while the phase has no end."""
        return 0.0 if self.end_ns is None else (self.end_ns - self.start_ns) / 1e9

    @property
    def part_of(self) -> str | None:
        """The level that is the sum of this one and those of other databases, if it is a part."""
        return self.detail.part_of if isinstance(self.detail, OltpDetail) else None


def tells(phase: Phase, detail: type[D]) -> TypeGuard[Phase[D]]:
    """Whether a phase is of the kind that tells such a detail."""
    return isinstance(phase.detail, detail)


def those(phases: Iterable[Phase], detail: type[D]) -> list[Phase[D]]:
    """Phases of the kind that tells such a detail."""
    return [phase for phase in phases if tells(phase, detail)]


class Applied(Model):
    """A setting that was changed for a run.

    Attributes:
        word: Dyno's neutral word (``dyno.config.settings``).
        asked: As the user gave it.
        name: The target's own name.
        value: What the target was given.
        found: What the live system then said.
        before: What it would have had, and has again afterwards.
        how: How it was applied: ``at the start``, ``in each session`` …
        note: What a reader must know, such as a rounding.
        restored: None until the target was left.
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


Place = Literal["process", "machine", "elsewhere"]
Role = Literal["data", "log", "temp"]


class TargetFacts(Model):
    """A database as it was under test. ``url`` never holds a password.

    Attributes:
        version: Begins with the product's own spelling of its name: ``PostgreSQL 18.1``.
        settings: As read back from the live system.
        place: Where it works, as the target knows: in Dyno's own process, in others of this
            machine, or elsewhere.
        tuned: Those that were changed for this run.
        devices: Block devices of this machine, as its probes name them, that carry its ``data``,
            its ``log`` and its ``temp`` files; without an entry where that is not known.
        disks: By such a device, facts on the disks under it (``dyno.host.fields``).
        device_notes: Why some devices are not known, and what to do about it.
    """

    url: str
    version: str
    place: Place
    settings: dict[str, str] = Field(default_factory=dict)
    tuned: tuple[Applied, ...] = ()
    devices: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    disks: dict[str, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    device_notes: tuple[str, ...] = ()

    @property
    def product(self) -> str:
        """The product's own spelling of its name; empty if the version does not tell."""
        first = self.version.partition(" ")[0]
        return first if first.isalpha() else ""


class Confined(Model):
    """Limits that a run put on a server's processes, or on Dyno's own, and what they did.

    Attributes:
        where: ``server``: the engine's own processes; ``process``: Dyno's, in which it works.
        version: Of control groups; None where only processors were chosen.
        limits: What was asked, by word, as the user wrote it.
        devices: Block devices whose I/O was limited.
        periods: Periods of a quota on CPU time in which anything ran.
        throttled_periods: Those of them in which it was used up.
        throttled_s: How long processors waited for the next one, all of them together.
        memory_peak_bytes: The most that was taken at once, page cache included.
        reread_pages: Pages of files that were read anew, since they had been given up for room.
        killed: Processes that the kernel killed, since nothing could be given up.
        notes: What a reader must know.
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
        """Share of the periods in which a quota on CPU time was used up; None without one."""
        if not self.periods or self.throttled_periods is None:
            return None
        return self.throttled_periods / self.periods


class Check(Model):
    """One proof about the data or the answers.

    Attributes:
        passed: None if it was skipped; ``message`` then says why.
    """

    name: str
    target: str
    passed: bool | None
    message: str
    detail: dict[str, Any] = Field(default_factory=dict)


class Run(Model):
    """The head of a bundle: ``run.json``."""

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
    targets: dict[str, TargetFacts] = Field(default_factory=dict)
    confined: Confined | None = None
    phases: tuple[Phase, ...] = ()
    notices: tuple[str, ...] = ()


class Estimate(Model):
    """A figure that analysis derived from a bundle.

    Attributes:
        name: Dotted name, such as ``io.random_read.best_iops``.
        low, high: Bounds of an interval, where one can be given.
        source: The formula or the file that it comes from.
    """

    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    source: str = ""


class Definition(Model):
    """A rule of the judgement, in words.

    Attributes:
        about: ``validity``, or ``limit`` for what sets the pace.
        definition: When it holds, with its limits.
        explanation: Why such figures mislead; or what would relieve such a limit.
    """

    code: str
    about: str
    definition: str
    explanation: str


class CriterionResult(Model):
    """A criterion against a level of load.

    Attributes:
        criterion: Its normal form, such as ``new_order p95 < 500 ms``.
        source: Where the limit comes from.
        binding: Whether it decides the exit code: the user named it, or it is a limit of a search.
        passed: None if it could not be judged; ``reason`` then says why.
        idle: Whether that speaks neither for nor against the load: nothing happened that it
            limits, such as reads, or what happened cannot be told apart from other things.
        value: Of the whole window, in ``unit``.
        worst: Of the interval that comes nearest to the wrong side, or goes furthest beyond.
        worst_t_ns: When that began, ns since the Unix epoch.
        failing, intervals: Intervals beyond the limit, of those there are.
        note: What the value is of, where that needs saying.
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
        validity: Whether the run is valid, and the codes of the reasons if not.
        criteria: Which criteria passed and failed; empty if there are none.
        limits: The likely bottleneck of each kind of work; empty if no work was measured.
        measured: What was measured instead; empty unless ``limits`` is empty.
    """

    validity: str
    criteria: str = ""
    limits: str = ""
    measured: str = ""

    @property
    def without_validity(self) -> str:
        """Its other sentences."""
        limits = f"Bottleneck: {self.limits}" if self.limits else ""
        return " ".join(filter(None, (self.criteria, limits, self.measured)))

    @property
    def text(self) -> str:
        """All of its sentences."""
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
