"""All windows of one load, merged; percentiles are never averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dyno.bundle.histograms import Latencies, Spread
from dyno.bundle.metrics.io import SIDES, Quantity, SideName
from dyno.bundle.tables import counts
from dyno.profiles.volume_sets import Ceiling
from dyno.safety.plainjson import finite
from dyno.statistics import student
from dyno.statistics.steady import variation_percent

Row = dict[str, Any]

SEARCHING = frozenset({"grow", "narrow", "confirm"})
"""Purposes of the windows of a search."""

QUANTILES: dict[Quantity, float] = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class Part:
    """Windows of a load: of the whole load, a volume, a job, or a job on a volume."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.seconds: float = sum(row["seconds"] for row in rows)
        self.operations: int = sum(_operations(row) for row in rows)
        self.bytes: int = sum(_bytes(row) for row in rows)
        self.errors = sum(sum(counts(row["errors"]).values()) for row in rows)
        self.syncs = sum(row["syncs"] or 0 for row in rows)

    @property
    def iops(self) -> float:
        """Reads and writes per second."""
        return self.operations / self.seconds

    @property
    def mbps(self) -> float:
        """10^6 bytes per second, reads and writes together."""
        return self.bytes / self.seconds / 1e6

    def of_side(self, side: str) -> tuple[float, float]:
        """IOPS and 10^6 bytes per second of one side."""
        ended = sum(row[f"{side}s"] for row in self.rows)
        moved = sum(row[f"{side}_bytes"] for row in self.rows)
        return ended / self.seconds, moved / self.seconds / 1e6

    @property
    def is_mixed(self) -> bool:
        """Whether both reads and writes completed."""
        return all(any(row[key] for row in self.rows) for key in ("reads", "writes"))

    @property
    def syncs_per_s(self) -> float:
        """Syncs per second."""
        return self.syncs / self.seconds

    @property
    def in_flight(self) -> float:
        """I/Os in flight, averaged over time."""
        means = [finite(row["in_flight_mean"]) or 0.0 for row in self.rows]
        if len(means) == 1:
            return means[0]
        weighted = zip(means, self.rows, strict=True)
        return sum(mean * row["seconds"] for mean, row in weighted) / self.seconds

    @property
    def is_open(self) -> bool:
        """Whether any I/O had a scheduled time."""
        return any(row["rate"] is not None for row in self.rows)

    @cached_property
    def service(self) -> dict[SideName, Spread]:
        """Service times of completed reads, writes and syncs."""
        return self._merged("latency", SIDES)

    @cached_property
    def response(self) -> dict[SideName, Spread]:
        """Response times from the scheduled time; empty in a closed loop."""
        return self._merged("response", ("read", "write"))

    def _merged(self, kind: str, sides: Iterable[SideName]) -> dict[SideName, Spread]:
        found: dict[SideName, Spread] = {}
        for side in sides:
            encoded = [text for row in self.rows if (text := row[f"{side}_{kind}"])]
            if not encoded:
                continue
            merged = Latencies()
            for text in encoded:
                merged.add(text)
            if merged.count:
                # There can be many volumes, so the histogram itself is not stored.
                found[side] = merged.spread
        return found

    @property
    def judged(self) -> dict[SideName, Spread]:
        """Latencies that the ceiling limits: response times with a rate, else service times."""
        return {**self.service, **self.response}

    def keeps(self, ceiling: Ceiling) -> bool:
        """Whether reads, writes and syncs each stay within the ceiling."""
        sides = self.judged.values()
        return bool(sides) and all(quantity(side, ceiling.of) <= ceiling.ms for side in sides)


@dataclass
class Pieces:
    """Rows of the parts of a load by name: volumes, jobs, and each job on each volume."""

    volumes: dict[str, list[Row]]
    jobs: dict[str, list[Row]]
    lanes: dict[tuple[str, str], list[Row]]


class Point(Part):
    """A load as a whole.

    Attributes:
        lanes: Each job on each volume, if the bundle stores them.
        volumes, jobs: Parts by name; empty if there is only one.
    """

    def __init__(self, rows: Sequence[Row], pieces: Pieces) -> None:
        super().__init__(rows)
        self.lanes = [Part(own) for own in pieces.lanes.values()]
        self.volumes = _several(pieces.volumes)
        self.jobs = _several(pieces.jobs)

    def inside(self, ceiling: Ceiling) -> bool:
        """Whether every job on every volume stayed within the ceiling in every window.

        The engine judged this at each step, because a merged percentile would hide one slow volume
        among many. A search measures a load again if one window exceeds the ceiling, because a
        machine may pause once. A single window outside does not count if others stayed inside,
        as in the engine (``crates/dyno-io/src/search/points.rs``), and all of them together do.
        Bundles of earlier versions have one volume and one job and are judged here.
        """
        if any(row["level"] is None or row["inside_ceiling"] is None for row in self.rows):
            return self.keeps(ceiling)
        outside = sum(not row["inside_ceiling"] for row in self.rows)
        if not outside:
            return True
        paused = outside == 1 < len(self.rows) and SEARCHING.issuperset(
            row["purpose"] for row in self.rows
        )
        return paused and all(lane.keeps(ceiling) for lane in self.lanes or [self])

    def slowest_ms(self, of: Quantity) -> float:
        """The slowest side of any job on any volume, as ``p95``, ``mean`` or ``p99``."""
        sides = [side for lane in self.lanes or [self] for side in lane.judged.values()]
        return max((quantity(side, of) for side in sides), default=0.0)

    @property
    def windows(self) -> int:
        """The number of steps."""
        return len(self.rows)

    def half_width(self, value: Callable[[Row], float]) -> float | None:
        """Half of the 95 % interval of a rate over its windows; None for a single window."""
        return student.half_width([value(row) for row in self.rows])

    @property
    def cov_percent(self) -> float | None:
        """Coefficient of variation of the IOPS over its windows."""
        return variation_percent([iops_of(row) for row in self.rows])


def quantity(latencies: Spread, of: Quantity) -> float:
    """A statistic of a distribution in ms: ``mean``, ``max``, or a percentile by name."""
    if of == "mean":
        return latencies.mean_ms
    return latencies.max_ms if of == "max" else latencies.quantile_ms(QUANTILES[of])


def iops_of(row: Row) -> float:
    """IOPS of a window."""
    return _operations(row) / row["seconds"]


def mbps_of(row: Row) -> float:
    """MB/s of a window."""
    return _bytes(row) / row["seconds"] / 1e6


def _operations(row: Row) -> int:
    return row["reads"] + row["writes"]


def _bytes(row: Row) -> int:
    return row["read_bytes"] + row["write_bytes"]


def _several(rows: dict[str, list[Row]]) -> dict[str, Part]:
    return {name: Part(own) for name, own in rows.items()} if len(rows) > 1 else {}
