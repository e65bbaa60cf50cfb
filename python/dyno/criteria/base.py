"""The protocol of metrics for criteria. Each metric is a file in ``measures``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from dyno.bundle.metrics.resource import VolumeMetric
from dyno.bundle.model import Location, Role

Units = Mapping[str, float]
"""Units of one kind, each with how many of the first one it is."""

MILLISECONDS: Units = {"ms": 1.0, "us": 0.001, "µs": 0.001, "s": 1000.0, "min": 60_000.0}
PERCENT: Units = {"%": 1.0}
COUNT: Units = {"": 1.0}
PER_SECOND: Units = {"/s": 1.0, "/min": 1 / 60}

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": 1.0}

LIMITS_OF_2013 = (
    "test criteria of Dell, Best Practices and Sizing Guidelines for Transaction Processing "
    "Applications with SQL Server 2012 using EqualLogic PS Series Storage, 2013, section 6"
)

Direction = Literal["read", "write"]


class Window(Protocol):
    """The measured time of one level of load, as the metrics ask for it.

    Times are ns since the Unix epoch; lists of values by interval are pairs of the interval's start
    and the value, in order.
    """

    @property
    def seconds(self) -> float:
        """Its length."""
        ...

    @property
    def place(self) -> Location:
        """Where the target works; ``machine`` also for another machine that was sampled."""
        ...

    @property
    def machine(self) -> str:
        """That other machine; empty for this one."""
        ...

    @property
    def operations(self) -> Sequence[str]:
        """Operations that occurred."""
        ...

    def devices(self, what: Role) -> Sequence[str]:
        """Block devices that carry the target's data or its log; empty if they are not known."""
        ...

    @property
    def roles(self) -> Mapping[str, tuple[str, ...]]:
        """All known devices of the target by role."""
        ...

    def volume(self, role: str, metric: VolumeMetric) -> Measured | None:
        """A metric of the devices of a role as one, named in its note; None without readings."""
        ...

    def samples(self, source: str, subject: str, metric: str) -> list[tuple[int, float]]:
        """Readings of a probe in the window."""
        ...

    def mean(self, source: str, subject: str, metric: str) -> float | None:
        """Their mean as estimates have it, weighted by time or requests; None without readings."""
        ...

    def latency_ms(self, operation: str, stat: str) -> float | None:
        """A stat of an operation's response time over the window; None if none ended."""
        ...

    def latencies_ms(self, operation: str, stat: str) -> list[tuple[int, float]]:
        """The same of each interval in which one ended."""
        ...

    @property
    def silent_s(self) -> float:
        """Time in which nothing completed while users waited."""
        ...

    def wait_ms(self, stat: str) -> float | None:
        """A stat of how long whoever asked in a silence had to wait at least, over the window.

        Moments outside of silences count as no wait; None if there was no silence.
        """
        ...

    def waits_ms(self, stat: str) -> list[tuple[int, float]]:
        """The same of each silent interval, in which no operation ended."""
        ...

    def rate(self) -> float:
        """Operations that ended well, a second, over the window."""
        ...

    def ended(self) -> list[tuple[int, float]]:
        """Operations that ended well, a second, by whole interval; zero where none did."""
        ...

    def failed(self) -> list[tuple[int, float]]:
        """Operations that were given up, by interval."""
        ...

    def attempted(self) -> list[tuple[int, float]]:
        """Operations that ended, well or not, by interval."""
        ...


@dataclass(frozen=True)
class Measured:
    """A metric over a window.

    Attributes:
        value: Of the whole window, in the first unit of its kind.
        intervals: Of each interval: its start in ns since the Unix epoch, and the value.
        note: What a reader must know, such as which device it was.
    """

    value: float
    intervals: Sequence[tuple[int, float]] = ()
    note: str = ""


@dataclass(frozen=True)
class Missing:
    """Why a metric cannot be judged over a window.

    Attributes:
        reason: For people.
        idle: Whether that speaks neither for nor against the load: nothing happened that it
            measures, as where every page is in memory and none is read, or the device does other
            things that cannot be distinguished from it. A search goes on.
    """

    reason: str
    idle: bool = False


@dataclass(frozen=True)
class Default:
    """A limit that holds unless the user says otherwise, and where it comes from."""

    text: str
    source: str


@dataclass(frozen=True)
class Metric:
    """Something that a criterion can limit.

    Attributes:
        name: Its word in the language.
        about: What it is, for people.
        kinds: The kinds of units that a limit can be given in.
        stats: Its statistics; the first one is meant if none is named.
        measure: Its value over a window for a stat and the first unit of a kind; or why it cannot
            be judged.
        default: Its default limit, if it has one.
        responses: Whether it is of response times, which count how late the driver was.
    """

    name: str
    about: str
    kinds: tuple[Units, ...]
    stats: tuple[str, ...]
    measure: Callable[[Window, str, str], Measured | Missing]
    default: Default | None = None
    responses: bool = False
    units: dict[str, tuple[str, float]] = field(init=False)

    def __post_init__(self) -> None:
        """Gathers the units: by name, the first unit of their kind and the factor to it."""
        found = {
            unit: (next(iter(kind)), factor) for kind in self.kinds for unit, factor in kind.items()
        }
        object.__setattr__(self, "units", found)
