"""A storage profile in the JSON document."""

from __future__ import annotations

from typing import Any

from dyno.bundle import metrics
from dyno.bundle.model import Estimate
from dyno.profiles.volume_sets import Load, how
from dyno.report.run.page import Page
from dyno.report.storage.comparison import change, efficiency, ratio
from dyno.report.storage.curves import Curve
from dyno.report.storage.places import FilledSet, places
from dyno.report.storage.tables import slowest


def entry(page: Page) -> dict[str, Any] | None:
    """The bests, and all curves of all volume sets and fill levels with their loads.

    ``latency_ms`` of a best is the latency that the ceiling applies to, of the slowest side;
    ``p95_ms`` of a load is the service time of the slower of reads and writes; ``response_p95_ms``
    starts at the scheduled time. Mixes list reads and writes separately. ``cpu_percent`` is present
    if sampled. ``ratio`` is relative to the first volume set, ``efficiency_percent`` to the sum
    of the volumes alone, ``change_percent`` to the first fill level.
    """
    found = places(page)
    if not page.phases("io") and not found:
        return None
    ceiling, alone = found[0].volume_set.ceiling if found else None, metrics.VolumeSet()
    return {
        "sequential_read_mbps": page.value(alone.curve("sequential_read").best_mbps),
        "sequential_write_mbps": page.value(alone.curve("sequential_write").best_mbps),
        "random_read_iops": page.value(alone.curve("random_read").best_iops),
        "mixed_iops": page.value(alone.curve("mixed").best_iops),
        "ceiling_ms": None if ceiling is None else ceiling.ms,
        "ceiling_of": None if ceiling is None else ceiling.of,
        "how": how(page.run),
        "curves": [_curve(page, place, curve) for place in found for curve in place.curves],
    }


def _curve(page: Page, place: FilledSet, curve: Curve) -> dict[str, Any]:
    best = curve.best
    return {
        "arm": place.volume_set.label,
        "fill": place.stage.label or None,
        "name": curve.name,
        "pattern": curve.pattern,
        "read_percent": curve.read_percent,
        "block_bytes": curve.block_bytes,
        "figure": curve.metric,
        "best": curve.value,
        "best_interval": None if best is None else _interval(best.low, best.high),
        "best_depth": curve.depth,
        "best_rate": best.load.rate if best and best.load and best.load.by_rate else None,
        "latency_ms": None if best is None else best.latency_ms,
        "confirmed": None if best is None else best.confirmed,
        "stopped": None if best is None else best.stopped or None,
        **_compared("ratio", ratio(page, place, curve.name, how(page.run))),
        **_compared("efficiency_percent", efficiency(page, place, curve.name)),
        **_compared("change_percent", change(page, place, curve.name)),
        "loads": [_load(page, curve, load) for load in curve.loads],
    }


def _compared(key: str, found: Estimate | None) -> dict[str, Any]:
    return {
        key: None if found is None else found.value,
        f"{key}_interval": None if found is None else _interval(found.low, found.high),
    }


def _interval(low: float | None, high: float | None) -> list[float] | None:
    return None if low is None or high is None else [low, high]


def _load(page: Page, curve: Curve, load: Load) -> dict[str, Any]:
    at = curve.at(load)
    made = {"depth": load.depth, "rate": load.rate, **_part(page, at)}
    read, write = at.side("read"), at.side("write")
    keys = (read.iops, write.iops, read.mbps, write.mbps, at.cpu_percent)
    found = {key.last: page.value(key) for key in keys}
    made |= {name: value for name, value in found.items() if value is not None}
    for name, of, parts in (("volumes", at.volume, curve.volumes), ("jobs", at.job, curve.jobs)):
        if parts:
            made[name] = {part: _part(page, of(part)) for part in parts}
    return made


def _part(page: Page, at: metrics.Part) -> dict[str, Any]:
    found = {key.last: page.value(key) for key in (at.iops, at.mbps)}
    found["p95_ms"] = slowest(page, at)
    optional = {
        "response_p95_ms": slowest(page, at, response=True),
        "sync_p95_ms": page.value(at.side("sync").service("p95")),
        "syncs_per_s": page.value(at.syncs_per_s),
    }
    found |= {name: value for name, value in optional.items() if value is not None}
    return {**found, "errors": int(page.value(at.errors) or 0)}
