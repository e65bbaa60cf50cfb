"""Application gap: database I/O as a share of what the profiler measured on the same storage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dyno.analyse.rows import rows
from dyno.bundle import metrics
from dyno.bundle.carriers import machine_of, of_target
from dyno.bundle.metrics.gap import REFERENCES
from dyno.bundle.metrics.resource import DeviceMetric
from dyno.bundle.model import Estimate, Phase, those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.io import IoDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.subjects import subjects
from dyno.profiles.steps import Step, steps

BLOCK_BYTES = 8192
"""Block size of the mixed curve that transactions are compared with, if there is one."""

_TESTS = ("power", "throughput")


@dataclass(frozen=True)
class Best:
    """The best point of a curve of the profile.

    Attributes:
        shape: Description of the access pattern: ``random 70/30 of 8 KiB``.
        read_percent: The share of reads.
        mbps, iops: Values at the best load; None if not measured.
        name: The estimate that names the best load.
    """

    shape: str
    pattern: str
    read_percent: int
    block_bytes: int
    depth: float
    mbps: float | None
    iops: float | None
    name: str


def gap(
    profile: Bundle,
    profiled: Sequence[Estimate],
    application: Bundle,
    measured: Sequence[Estimate],
) -> list[Estimate]:
    """``gap.<phase>.<metric>`` for each query test and for the level with most transactions.

    Values are means over the phase on the devices that hold the target's data. Phases without
    device samples are skipped.

    Args:
        profile: A bundle with a storage profile.
        profiled: Its estimates.
        application: A bundle with queries or transactions; may be the same bundle.
        measured: Its estimates.
    """
    known = metrics.Estimates(measured)
    estimates: list[Estimate] = []
    for phase in application_phases(application, measured):
        devices = devices_of(application, phase)
        best = bests(profile, profiled, devices)
        machine = machine_of(application.run, phase.target)
        taken = _taken(known, metrics.Resources(phase.name, machine=machine), devices)
        if taken is None or not best:
            continue
        at = metrics.Gap(phase.name)
        estimates += taken.estimates(at)
        if phase.kind == "dss":
            estimates += _bandwidth(at, taken, best)
            estimates += _cached(at, application, phase, taken)
        else:
            estimates += _rate(at, taken, best)
        busy = known.value(metrics.Resources(phase.name, machine=machine).cpu_busy.mean)
        if busy is not None:
            estimates.append(at.cpu_busy.estimate(busy, "samples in the phase"))
    return estimates


def application_phases(bundle: Bundle, estimates: Iterable[Estimate]) -> list[Phase]:
    """Selects the application phases: query tests, and one level per target.

    The level is the one with most transactions. For a search, only windows at the maximum count.
    """
    known = metrics.Estimates(estimates)
    done = [phase for phase in bundle.run.phases if phase.status == "done"]
    queries = [
        phase for phase in those(done, DssDetail) if (phase.detail.test or "power") in _TESTS
    ]
    searches = those(done, SearchDetail)
    kept = [name for search in searches for name in search.detail.counted or ()]
    levels: dict[str | None, tuple[float, Phase]] = {}
    for phase in those(done, OltpDetail):
        if searches and phase.detail.level not in kept:
            continue
        tps = known.value(metrics.Level(phase.detail.level).tps)
        if phase.detail.part_of is None and tps:
            before = levels.get(phase.target)
            if before is None or tps > before[0]:
                levels[phase.target] = (tps, phase)
    return [*queries, *(phase for _, phase in levels.values())]


def devices_of(bundle: Bundle, phase: Phase) -> tuple[str, ...]:
    """Devices that hold the data of a phase's target, named as by the probes."""
    return of_target(bundle.run, phase.target).get("data", ())


def profiled_devices(bundle: Bundle) -> dict[str, set[str]]:
    """Device names of each volume in a profile."""
    storage = bundle.run.host.get("storage")
    own: dict[str, object] = storage if isinstance(storage, dict) else {}
    usual = {str(own[name]) for name in ("subject", "device", "disk") if own.get(name)}
    found: dict[str, set[str]] = {}
    for phase in those(bundle.run.phases, IoDetail):
        listed = subjects(phase)
        names = {volume.device for volume in listed if volume.device}
        for volume in listed:
            members = volume.facts.get("members")
            names |= set(map(str, members)) if isinstance(members, list) else set()
        found.setdefault(str(phase.detail.volume), names or usual)
    return found


def bests(profile: Bundle, profiled: Sequence[Estimate], devices: Sequence[str] = ()) -> list[Best]:
    """The best of each curve at the highest fill, on the volume on ``devices`` if there is one."""
    every = steps(profile)
    if not every:
        return []
    lies_on = profiled_devices(profile)
    volume_sets = list(dict.fromkeys(step.volume_set for step in every))
    volume_set = next(
        (one for one in volume_sets if lies_on.get(one, set()) & set(devices)), volume_sets[0]
    )
    own = [step for step in every if step.volume_set == volume_set]
    full = max(step.stage for step in own)
    known = metrics.Estimates(profiled)
    found: dict[str, Best] = {}
    for step in own:
        if step.stage == full and step.curve not in found:
            best = _best(known, step, [one for one in own if one.curve == step.curve])
            if best is not None:
                found[step.curve] = best
    return list(found.values())


def _best(known: metrics.Estimates, step: Step, curve: Sequence[Step]) -> Best | None:
    of_it = step.curve_metrics
    depth, rate = known.value(of_it.best_depth), known.value(of_it.best_rate)
    at = next(
        (
            one.metrics
            for one in curve
            if one.curve_metrics == of_it
            and (one.load.rate == rate if one.load.by_rate else one.load.depth == depth)
        ),
        None,
    )
    row = step.row
    if at is None or row["pattern"] is None or None in (row["read_percent"], row["block_bytes"]):
        return None
    reads, block = row["read_percent"], row["block_bytes"]
    kind = {100: "read", 0: "write"}.get(reads, f"{reads}/{100 - reads}")
    return Best(
        f"{row['pattern']} {kind} of {block / 1024:g} KiB",
        row["pattern"],
        reads,
        block,
        depth or 0.0,
        known.value(at.mbps),
        known.value(of_it.best_iops),
        str(at),
    )


@dataclass(frozen=True)
class _Taken:
    """Mean device throughput in a phase, summed over all devices."""

    read_mbps: float
    write_mbps: float
    read_iops: float
    write_iops: float
    queue_length: float
    utilisation: float

    @property
    def mbps(self) -> float:
        return self.read_mbps + self.write_mbps

    @property
    def iops(self) -> float:
        return self.read_iops + self.write_iops

    def estimates(self, at: metrics.Gap) -> Iterable[Estimate]:
        source = "samples of the devices that carry the data, mean over the phase"
        yield at.application_mbps.estimate(self.mbps, source)
        yield at.application_iops.estimate(self.iops, source)
        yield at.queue_length.estimate(self.queue_length, source)
        yield at.utilisation.estimate(self.utilisation, source)
        if self.iops > 0:
            yield at.write_percent.estimate(100 * self.write_iops / self.iops, source)
            yield at.io_bytes.estimate(self.mbps * 1e6 / self.iops, source)


def _taken(
    known: metrics.Estimates, at: metrics.Resources, devices: Sequence[str]
) -> _Taken | None:
    def values(metric: DeviceMetric) -> list[float]:
        found = (known.value(at.device(device, metric).mean) for device in devices)
        return [value for value in found if value is not None]

    if not values("read_mbps"):
        return None
    return _Taken(
        read_mbps=sum(values("read_mbps")),
        write_mbps=sum(values("write_mbps")),
        read_iops=sum(values("read_iops")),
        write_iops=sum(values("write_iops")),
        queue_length=sum(values("queue_length")),
        utilisation=max(values("utilisation"), default=0.0),
    )


def _bandwidth(at: metrics.Gap, taken: _Taken, best: Iterable[Best]) -> Iterable[Estimate]:
    """Queries: share of the best sequential and random read MB/s."""
    reads = [one for one in best if one.read_percent == 100 and one.mbps]
    for pattern in REFERENCES[:2]:
        own = [one for one in reads if one.pattern == pattern]
        if own:
            top = max(own, key=lambda one: one.mbps or 0.0)
            yield from _share(at.share(pattern), taken.mbps, top.mbps or 0.0, "MB/s", top)


def _rate(at: metrics.Gap, taken: _Taken, best: Iterable[Best]) -> Iterable[Estimate]:
    """Transactions: share of the best IOPS of the closest read/write mix."""
    mixes = [one for one in best if one.pattern == "random" and one.iops]
    if not mixes:
        return
    reads = 100 * taken.read_iops / taken.iops if taken.iops > 0 else 100.0
    like = min(
        mixes,
        key=lambda one: (
            abs(math.log2(one.block_bytes / BLOCK_BYTES)),
            one.read_percent in (0, 100),
            abs(one.read_percent - reads),
        ),
    )
    yield from _share(at.share("mix"), taken.iops, like.iops or 0.0, "1/s", like)


def _share(
    at: metrics.Share, taken: float, profiled: float, unit: str, best: Best
) -> Iterable[Estimate]:
    source = f"{best.shape}, {best.name} of the profile"
    yield at.share_percent.estimate(100 * taken / profiled, f"at the device / {source}")
    yield at.profile.estimate(profiled, source, unit=unit)
    yield at.profile_depth.estimate(best.depth, source)
    yield at.profile_io_bytes.estimate(best.block_bytes, source)


def _cached(at: metrics.Gap, bundle: Bundle, phase: Phase, taken: _Taken) -> Iterable[Estimate]:
    """The page cache's share of the bytes that the engine requested."""
    end_ns = phase.end_ns or phase.start_ns
    asked = [
        row
        for row in rows(bundle, "queries")
        if row["target"] == phase.target and phase.start_ns <= row["t_ns"] <= end_ns
    ]
    known = [row["bytes_read"] for row in asked if row["bytes_read"] is not None]
    if not known or len(known) < len(asked):
        return
    # Device means cover the same time: from the first measured query on.
    seconds = (end_ns - min(row["t_ns"] for row in asked)) / 1e9
    source = "queries table: bytes_read of all queries of the phase"
    yield at.engine_read_bytes.estimate(sum(known), source)
    read = taken.read_mbps * 1e6 * seconds
    whole = "mean MB/s read × time from the first measured query to the end"
    yield at.device_read_bytes.estimate(read, whole)
    if sum(known) > 0:
        yield at.cache_percent.estimate(
            max(0.0, 100 * (1 - read / sum(known))),
            "1 − bytes read from the device / bytes the engine read from the system",
        )
