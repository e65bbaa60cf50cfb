"""Storage: throughput and latency at each queue depth, and the best inside the ceiling."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dyno.analyse.histograms import Latencies
from dyno.analyse.rows import counts, number, rows
from dyno.bundle import Bundle
from dyno.model import Estimate
from dyno.profiles.figure import recorded

CEILING_MS = 20.0
"""Latency ceiling on p95 where the bundle does not give its own."""

_PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass
class _Point:
    """Everything measured of one curve at one queue depth."""

    pattern: str
    seconds: float = 0.0
    operations: int = 0
    bytes: int = 0
    errors: int = 0
    in_flight: float = 0.0
    read: Latencies = field(default_factory=Latencies)
    write: Latencies = field(default_factory=Latencies)

    def add(self, row: dict[str, Any]) -> None:
        self.seconds += row["seconds"]
        self.operations += row["reads"] + row["writes"]
        self.bytes += row["read_bytes"] + row["write_bytes"]
        self.errors += sum(counts(row["errors"]).values())
        self.in_flight = max(self.in_flight, number(row["in_flight_mean"]) or 0.0)
        self.read.add(row["read_latency"])
        self.write.add(row["write_latency"])

    @property
    def iops(self) -> float:
        return self.operations / self.seconds

    @property
    def mbps(self) -> float:
        return self.bytes / self.seconds / 1e6

    def inside(self, ceiling_ms: float) -> bool:
        """Whether p95 of reads and p95 of writes, each on its own, keep within the ceiling."""
        sides = [side for side in (self.read, self.write) if side.count]
        return bool(sides) and all(side.quantile_ms(0.95) <= ceiling_ms for side in sides)


def io(bundle: Bundle) -> list[Estimate]:
    """``io.<curve>.qd<depth>.<figure>`` for each point, and the best of each curve.

    With several volumes the names start with ``io.<volume>``.
    """
    points = _points(bundle)
    if not points:
        return []
    volumes = {volume for volume, _, _ in points}
    estimates: list[Estimate] = []
    for volume in sorted(volumes):
        start = "io" if len(volumes) == 1 else f"io.{volume}"
        ceiling = _ceiling_ms(bundle, volume)
        estimates.append(
            Estimate(name=f"{start}.ceiling_ms", value=ceiling, unit="ms", source="the plan")
        )
        curves = dict.fromkeys(curve for where, curve, _ in points if where == volume)
        for curve in curves:
            depths = {
                depth: point
                for (where, name, depth), point in sorted(points.items())
                if (where, name) == (volume, curve)
            }
            for depth, point in depths.items():
                estimates += _figures(f"{start}.{curve}.qd{depth}", point)
            pattern = next(iter(depths.values())).pattern
            about = recorded(bundle.run, volume, curve, pattern)
            estimates += _best(f"{start}.{curve}", depths, ceiling, about)
    return estimates


def _points(bundle: Bundle) -> dict[tuple[str, str, int], _Point]:
    points: dict[tuple[str, str, int], _Point] = {}
    for row in rows(bundle, "io"):
        if (number(row["seconds"]) or 0) <= 0:
            continue
        key = (row["volume"], row["phase"], row["queue_depth"])
        points.setdefault(key, _Point(row["pattern"])).add(row)
    return points


def _ceiling_ms(bundle: Bundle, volume: str) -> float:
    for phase in bundle.run.phases:
        if phase.kind == "io" and phase.detail.get("volume") == volume:
            return number(phase.detail.get("ceiling_ms")) or CEILING_MS
    return CEILING_MS


def _figures(name: str, point: _Point) -> Iterable[Estimate]:
    table = "io table"
    yield Estimate(name=f"{name}.iops", value=point.iops, unit="IOPS", source=table)
    yield Estimate(
        name=f"{name}.mbps", value=point.mbps, unit="MB/s", source=f"{table}; MB = 10^6 bytes"
    )
    yield Estimate(name=f"{name}.in_flight", value=point.in_flight, unit="", source=table)
    yield Estimate(name=f"{name}.errors", value=point.errors, unit="", source=table)
    for side, latencies in (("read", point.read), ("write", point.write)):
        if not latencies.count:
            continue
        for label, quantile in _PERCENTILES.items():
            yield Estimate(
                name=f"{name}.{side}_{label}_ms",
                value=latencies.quantile_ms(quantile),
                unit="ms",
                source=f"{table}, histogram",
            )
        yield Estimate(
            name=f"{name}.{side}_max_ms",
            value=latencies.max_ms,
            unit="ms",
            source=f"{table}, histogram",
        )


def _best(
    name: str, depths: dict[int, _Point], ceiling_ms: float, about: str
) -> Iterable[Estimate]:
    """The highest MB/s of a curve about that; the highest IOPS inside the ceiling of another.

    Points with failed I/Os do not count. Of equals the least depth does.
    """
    sound = {depth: point for depth, point in depths.items() if not point.errors}
    if about == "mbps" and sound:
        depth = max(sound, key=lambda depth: sound[depth].mbps)
        yield Estimate(
            name=f"{name}.best_mbps",
            value=sound[depth].mbps,
            unit="MB/s",
            source=f"highest of the curve, at queue depth {depth}; MB = 10^6 bytes",
        )
        yield Estimate(name=f"{name}.best_depth", value=depth, unit="", source="queue depth")
        return
    inside = {depth: point for depth, point in sound.items() if point.inside(ceiling_ms)}
    if not inside:
        return
    depth = max(inside, key=lambda depth: inside[depth].iops)
    yield Estimate(
        name=f"{name}.best_iops",
        value=inside[depth].iops,
        unit="IOPS",
        source=(
            f"highest with p95 of reads and p95 of writes, each on its own, at most "
            f"{ceiling_ms:g} ms; at queue depth {depth}"
        ),
    )
    yield Estimate(name=f"{name}.best_depth", value=depth, unit="", source="queue depth")
