"""Reads the storage profiles of a run as evidence: one device per set of volumes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dyno.bundle import metrics
from dyno.bundle.model import Estimate, those
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.subjects import Subject, subjects
from dyno.decide.size import raid
from dyno.decide.size.evidence import Storage
from dyno.profiles.steps import Step, steps
from dyno.profiles.volume_sets import RecordedSet, volume_sets

BLOCK_BYTES = 8192
"""Block size of the mix that transactions are compared with, if there is one."""

READS = 0.7
"""Share of reads where no run measured one: the published 70/30 mix."""

_Z95 = 1.96


def storage(
    bundle: Bundle, estimates: Sequence[Estimate], reads: float | None, level: str | None = None
) -> list[Storage]:
    """The profiled volumes at each fill level.

    Sets of several volumes measured together count only if there is no smaller set.

    Args:
        bundle: A bundle, with or without a profile.
        estimates: Its estimates.
        reads: Share of reads of the database at its devices; None if unknown.
        level: RAID level of the volumes in the user's words; None: as Linux reports it.
    """
    every = steps(bundle)
    known = metrics.Estimates(estimates)
    places = {(step.volume_set, step.stage) for step in every}
    sets = volume_sets(bundle.run, places)
    fewest = min((len(one.members) for one in sets), default=0)
    found: list[Storage] = []
    for volumes in sets:
        if len(volumes.members) > fewest:
            continue
        for stage in volumes.stages:
            here = (volumes.label, stage.index)
            own = [one for one in every if (one.volume_set, one.stage) == here]
            if own:
                fill = _percent(stage.label)
                found.append(_device(bundle, known, estimates, volumes, own, fill, reads, level))
    return found


def _device(
    bundle: Bundle,
    known: metrics.Estimates,
    estimates: Sequence[Estimate],
    volumes: RecordedSet,
    own: Sequence[Step],
    fill: float | None,
    reads: float | None,
    level: str | None,
) -> Storage:
    mixes = [one for one in own if _is(one, "random") and known.value(one.curve_metrics.best_iops)]
    wanted = 100 * (READS if reads is None else reads)
    mix = min(
        mixes,
        key=lambda one: (
            abs(math.log2(max(1, one.row["block_bytes"]) / BLOCK_BYTES)),
            one.row["read_percent"] in (0, 100),
            abs(one.row["read_percent"] - wanted),
        ),
        default=None,
    )
    best = None if mix is None else known.estimate(mix.curve_metrics.best_iops)
    noise = None
    if best is not None and best.low is not None and best.high is not None and best.value > 0:
        noise = (best.high - best.low) / 2 / _Z95 / best.value
    rates = {
        one.curve_metrics.best_mbps.name: value
        for one in own
        if _is(one, "sequential") and one.row["read_percent"] == 100
        if (value := known.value(one.curve_metrics.best_mbps)) is not None
    }
    fastest = max(rates, key=lambda name: rates[name], default="")
    seen = [
        volume
        for phase in those(bundle.run.phases, IoDetail)
        if str(phase.detail.volume) == volumes.label
        for volume in subjects(phase)
    ][: len(volumes.members)]
    facts = [volume.facts for volume in seen]
    sizes = [size for one in facts if isinstance(size := one.get("size_bytes"), int) and size > 0]
    members = [one.get("members") for one in facts]
    return Storage(
        run=bundle.run.run,
        volume=volumes.label,
        fill=_share_of_devices(seen) if fill is None else fill,
        iops=None if best is None else best.value,
        noise=noise,
        reads=0.0 if mix is None else mix.row["read_percent"] / 100,
        block=0 if mix is None else mix.row["block_bytes"],
        metric="" if best is None else best.name,
        mbps=rates.get(fastest),
        mbps_metric=fastest,
        ceiling_ms=volumes.ceiling.ms,
        size_tb=sum(sizes) / 1e12 if sizes else None,
        members=max(1, sum(len(one) if isinstance(one, list) else 1 for one in members)),
        raid=level or next(filter(None, (raid.level_of(one.get("raid")) for one in facts)), None),
        efficiency=_efficiency(estimates, "" if mix is None else mix.curve),
    )


def _is(step: Step, pattern: str) -> bool:
    row = step.row
    return row["pattern"] == pattern and None not in (row["read_percent"], row["block_bytes"])


def _share_of_devices(volumes: Sequence[Subject]) -> float | None:
    """The share of devices that was measured; None for files, which are a part of a volume."""
    shares = [
        one.size / whole
        for one in volumes
        if one.kind == "device" and one.size and (whole := one.number("size_bytes"))
    ]
    return min(shares) if shares and len(shares) == len(volumes) else None


def _percent(label: str) -> float | None:
    found = re.fullmatch(r"([\d.]+) ?%", label)
    return None if found is None else float(found[1]) / 100


def _efficiency(estimates: Sequence[Estimate], curve: str) -> float | None:
    """The lowest measured efficiency of several volumes at once on a curve, as a share."""
    end = f".{curve}.{metrics.Compared.efficiency_percent.name}"
    found = [
        one.value / 100
        for one in estimates
        if one.name.startswith("io.scaling.") and one.name.endswith(end) and one.value > 0
    ]
    return min(found, default=None)


def at_fill(found: Sequence[Storage], fill: float) -> list[Storage]:
    """The profiles at the lowest measured fill that is at least ``fill``; else the highest ones.

    A volume gets slower as it fills, so an emptier one would promise too much. Without fill levels,
    all of them.
    """
    known = sorted({one.fill for one in found if one.fill is not None})
    if not known:
        return list(found)
    level = next((one for one in known if one >= fill - 1e-9), known[-1])
    return [one for one in found if one.fill == level]
