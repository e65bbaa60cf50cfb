"""Volume sets, fill levels and loads of a recorded storage profile, and their names.

A *volume set* is one volume, or several volumes measured together. Metric names start with
``io``, then the volume set if there are several, then the fill level if there are any:
``io.a+b.fill62``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from dyno.bundle.metrics import VolumeSet as SetMetrics
from dyno.bundle.model import Run, those
from dyno.bundle.phases.io import IoDetail

How = Literal["single", "together", "compare", "scaling"]
CeilingOf = Literal["p95", "mean", "p99"]

_SILENT = IoDetail()
_WAYS: tuple[How, ...] = ("together", "compare", "scaling")

CEILING_MS = 20.0
"""Default latency ceiling for bundles without one."""


@dataclass(frozen=True)
class Ceiling:
    """The latency ceiling of reads, writes and syncs, each separately."""

    ms: float = CEILING_MS
    of: CeilingOf = "p95"


@dataclass(frozen=True)
class Stage:
    """A fill level. Without fill levels, the single stage has no label and no key.

    Attributes:
        label: ``40 %``.
        key: Its part of metric names, ``fill40``.
    """

    index: int = 0
    label: str = ""
    key: str = ""


@dataclass(frozen=True)
class RecordedSet:
    """One volume, or volumes measured together.

    Attributes:
        key: Its part of metric names; empty for the only volume set.
        detail: Detail of its first phase; empty if there is none.
        members: Names of its volumes.
    """

    label: str
    key: str
    detail: IoDetail = field(hash=False)
    members: tuple[str, ...]
    stages: tuple[Stage, ...]

    def metrics(self, stage: Stage) -> SetMetrics:
        """Returns its metrics at a fill level."""
        return SetMetrics(self.key, stage.key)

    @property
    def ceiling(self) -> Ceiling:
        """The ceiling of its plan."""
        ms, of = self.detail.ceiling_ms, self.detail.ceiling_of
        kind: CeilingOf = "mean" if of == "mean" else "p99" if of == "p99" else "p95"
        if ms is not None and 0 < ms < 1e9:
            return Ceiling(float(ms), kind)
        return Ceiling(of=kind)


class Named(Protocol):
    """Any object with a curve name."""

    @property
    def name(self) -> str:
        """The name of the curve."""
        ...


C = TypeVar("C", bound=Named)


@dataclass(frozen=True)
class FilledSet(Generic[C]):
    """A volume set at a fill level, with its curves in run order."""

    volume_set: RecordedSet
    stage: Stage
    curves: Sequence[C]

    @property
    def metrics(self) -> SetMetrics:
        """The metrics of the volume set at this level."""
        return self.volume_set.metrics(self.stage)

    @property
    def title(self) -> str:
        """``a+b, 40 % full``; empty for a single place."""
        full = f"{self.stage.label} full" if self.stage.label else ""
        return ", ".join(filter(None, (self.volume_set.key, full)))

    @property
    def of(self) -> str:
        """The title as a suffix of a metric name: `` of a+b at 40 % full``."""
        full = f" at {self.stage.label} full" if self.stage.label else ""
        return f"{f' of {self.volume_set.key}' * bool(self.volume_set.key)}{full}"

    def curve(self, name: str) -> C | None:
        """Returns the curve of this name, if it was measured here."""
        return next((curve for curve in self.curves if curve.name == name), None)


def how(run: Run) -> How:
    """Returns how several volumes were measured."""
    recorded = [phase.detail.how for phase in those(run.phases, IoDetail)]
    for way in _WAYS:
        if way in recorded:
            return way
    return "single"


def volume_sets(run: Run, measured: Iterable[tuple[str, int]]) -> list[RecordedSet]:
    """Returns the volume sets of a run in the requested order.

    Args:
        run: The bundle head, which is untrusted input.
        measured: Volume set labels and fill level indexes in its tables.
    """
    stages: dict[str, set[int]] = {}
    for label, stage in measured:
        stages.setdefault(label, set()).add(stage)
    details: dict[str, IoDetail] = {}
    asked: list[str] = []
    for phase in those(run.phases, IoDetail):
        details.setdefault(str(phase.detail.volume), phase.detail)
        asked += [name for name in phase.detail.arms if name in stages]
    order = list(dict.fromkeys([*asked, *sorted(stages)]))
    return [
        RecordedSet(
            label,
            label if len(order) > 1 else "",
            details.get(label, _SILENT),
            _members(label, details.get(label, _SILENT)),
            _stages(details.get(label, _SILENT), stages[label]),
        )
        for label in order
    ]


def _members(label: str, detail: IoDetail) -> tuple[str, ...]:
    names = [target.name for target in detail.targets if target.name is not None]
    return tuple(dict.fromkeys(names)) or (label,)


def _stages(detail: IoDetail, measured: set[int]) -> tuple[Stage, ...]:
    listed = detail.stages
    if not listed and measured == {0}:
        return (Stage(),)
    found: list[Stage] = []
    for index in sorted(measured):
        label = listed[index].label if 0 <= index < len(listed) else None
        digits = "" if label is None else re.sub(r"\D+", "_", label).strip("_")
        key = f"fill{digits}" if digits else f"stage{index}"
        if key in {stage.key for stage in found}:
            key = f"stage{index}"
        found.append(Stage(index, f"stage {index}" if label is None else label, key))
    return tuple(found)


@dataclass(frozen=True)
class Load:
    """The requested load of a step of a curve.

    Attributes:
        depth: I/Os in flight of all jobs on all volumes; in an open loop the maximum.
        rate: Scheduled IOPS of the jobs with a rate.
        name: Its part of metric names: ``qd8``, ``rate5000``.
        by_rate: Whether the rate distinguishes it from other loads of its curve.
    """

    depth: int
    rate: float | None
    name: str
    by_rate: bool


def loads(asked: Iterable[tuple[int, float | None]]) -> dict[tuple[int, float | None], Load]:
    """Returns the loads of a curve, by depth and rate, in increasing order.

    Jobs with a rate may run together with jobs of increasing depth. The depth then distinguishes
    the loads.
    """
    pairs = sorted(set(asked), key=lambda pair: (pair[1] or 0.0, pair[0]))
    depths, rates = {depth for depth, _ in pairs}, [rate for _, rate in pairs]
    by_rate = None not in rates and (len(set(rates)) > 1 or len(depths) == 1)
    found: dict[tuple[int, float | None], Load] = {}
    for depth, rate in pairs:
        words = [f"qd{depth}"]
        if rate is not None:
            words.insert(0 if by_rate else 1, f"rate{rate:.3f}".rstrip("0").rstrip("."))
        alike = rates.count(rate) if by_rate else [other for other, _ in pairs].count(depth)
        found[depth, rate] = Load(depth, rate, "_".join(words[: 1 + (alike > 1)]), by_rate)
    return found
