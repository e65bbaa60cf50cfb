"""Resources: CPU, device and memory usage in each measured phase."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse import flash
from dyno.analyse.level import level
from dyno.analyse.rows import rows
from dyno.analyse.series import sampled
from dyno.analyse.volumes import between, of_role
from dyno.bundle import machines, metrics
from dyno.bundle.carriers import machine_of, of_target, told_apart
from dyno.bundle.flash import SOURCE as FLASH
from dyno.bundle.inside import CLOCK, REPORTED
from dyno.bundle.metrics.resource import VOLUME
from dyno.bundle.model import Estimate, Phase, has_detail
from dyno.bundle.observed import Series, mean
from dyno.bundle.phases.certify import CertifyDetail
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.series import Key
from dyno.profiles.steps import Step, steps, windows

MEASURED = frozenset({"io", "load", "index", "dss", "oltp", "certify", "maintenance"})
"""Kinds of phases with metrics of resources."""

# Metrics to report per phase, by sample source; None means all metrics.
_SOURCES: dict[str, frozenset[str] | None] = {
    CLOCK: frozenset({"bound"}),
    "database": None,
    "cpu": frozenset({"busy", "user", "system", "iowait", "steal", "busiest_core"}),
    "disk": None,
    "memory": frozenset({"available", "swap_used"}),
    "network": frozenset({"retransmitted"}),
    "interface": None,
    "pressure": None,
    "process": frozenset({"cpu", "rss"}),
    "others": None,
    VOLUME: None,
    FLASH: None,
    **dict.fromkeys(REPORTED),
}

_SAMPLES = "samples in the phase"

# Metrics that show disturbances, for each curve of a storage profile.
_BUSY: Key = ("cpu", "host", "busy")
_OF_CURVES: tuple[Key, ...] = (
    _BUSY,
    ("cpu", "host", "steal"),
    ("process", "dyno", "cpu"),
)


def resources(bundle: Bundle) -> list[Estimate]:
    """``resource.<phase>.<source>.<subject>.<metric>.<mean|max|min>`` of each measured phase.

    Those of another machine begin with ``resource.<phase>@<machine>``.

    Means come from ``dyno.bundle.observed``: over time, or over requests. Maximum and minimum are
    of single readings.

    Transactions count from the end of the warm-up, queries from the first measured one, intervals
    of a certificate in their window. CPU metrics are given for each curve of a storage profile as
    ``<phase>/<curve>``, because a long profile averages out a short disturbance. CPU utilization at
    each load is a metric of that load, ``io.<curve>.<load>.cpu_percent``.

    Source ``volume``: the devices of a role of the phase's target, unless they cannot be told apart
    from those of another role.
    """
    if not any(phase.kind in MEASURED for phase in bundle.run.phases):
        return []
    every = sampled(bundle)
    series = {
        key: one
        for key, one in every.items()
        if (probe := machines.split(key[0]).probe) in _SOURCES
        and key[2] in (_SOURCES[probe] or {key[2]})
    }
    series |= _nested(bundle, every)
    of_curves = {key: series[key] for key in _OF_CURVES if key in series}
    stored = steps(bundle)
    estimates: list[Estimate] = []
    for phase in bundle.run.phases:
        if phase.kind not in MEASURED or phase.end_ns is None:
            continue
        window = _window(bundle, phase)
        by_machine = _by_machine(series)
        for machine, own_series in by_machine.items():
            at = metrics.Resources(phase.name, machine=machine)
            source = f"{_SAMPLES} on {machine}" if machine else _SAMPLES
            found = list(_phase(at, own_series, [window], source))
            estimates += [*found, *flash.bound(phase.name, found)]
        machine = machine_of(bundle.run, phase.target)
        volumes = by_machine.get(machine, {})
        at = metrics.Resources(phase.name, machine=machine)
        for role, devices in told_apart(bundle.run, phase.target).items():
            estimates += of_role(at, role, [between(volumes, one, *window) for one in devices])
        own = [step for step in stored if window[0] <= step.start_ns < window[1]]
        for curve, spans in _curves(own).items():
            at = metrics.Resources(phase.name, curve)
            estimates += _phase(at, of_curves, spans, f"{_SAMPLES} of the curve")
    return [*estimates, *_of_loads(stored, series.get(_BUSY))]


def _nested(bundle: Bundle, series: dict[Key, Series]) -> dict[Key, Series]:
    """Series of stacked devices, such as loop devices, that hold files of a target."""
    run = bundle.run
    carriers = {
        (machines.at("nested_disk", facts.machine), name): machines.at("disk", facts.machine)
        for target, facts in run.targets.items()
        for names in of_target(run, target).values()
        for name in names
    }
    return {
        (carriers[source, subject], subject, metric): one
        for (source, subject, metric), one in series.items()
        if (source, subject) in carriers
    }


def _by_machine(series: dict[Key, Series]) -> dict[str, dict[Key, Series]]:
    """Series by machine, under the names that its own probes have; this machine is first."""
    found: dict[str, dict[Key, Series]] = {"": {}}
    for (source, subject, metric), one in series.items():
        probe, machine = machines.split(source)
        if probe in REPORTED:
            machine = ""  # the database reports itself, on whichever machine it runs
        found.setdefault(machine, {})[probe, subject, metric] = one
    return found


def _of_loads(stored: Iterable[Step], busy: Series | None) -> Iterable[Estimate]:
    if busy is None:
        return
    for load, own in windows(stored).items():
        found = [one for step in own for one in busy.between(step.start_ns, step.end_ns)]
        value = mean(found)
        if value is not None:
            yield load.cpu_percent.estimate(
                value, "samples in the windows of the load; of all CPUs of this machine"
            )


def _curves(own: Iterable[Step]) -> dict[str, list[tuple[int, int]]]:
    """The time ranges of each curve, if there are several."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for step in own:
        spans.setdefault(step.curve, []).append((step.start_ns, step.end_ns))
    return spans if len(spans) > 1 else {}


def _window(bundle: Bundle, phase: Phase) -> tuple[int, int]:
    start, end = phase.start_ns, phase.end_ns or phase.start_ns
    if has_detail(phase, OltpDetail):
        name = phase.detail.level
        found = level(bundle, str(name)) if name in bundle.levels() else None
        if found is not None:
            return found.rates.start_ns, found.rates.end_ns
    if has_detail(phase, CertifyDetail) and phase.detail.window is not None:
        return phase.detail.window
    if has_detail(phase, DssDetail) and phase.detail.window is not None:
        return phase.detail.window
    if phase.kind == "dss":
        starts = [
            row["t_ns"]
            for row in rows(bundle, "queries")
            if row["target"] == phase.target and start <= row["t_ns"] <= end
        ]
        return min(starts, default=start), end
    return start, end


def _phase(
    at: metrics.Resources,
    series: dict[Key, Series],
    spans: Iterable[tuple[int, int]],
    source: str,
) -> Iterable[Estimate]:
    listed = list(spans)
    longest = 0
    for (origin, subject, metric), one in series.items():
        found = [reading for start, end in listed for reading in one.between(start, end)]
        longest = max(longest, len(found))
        whole = mean(found)
        if whole is None:
            continue
        values = [reading.value for reading in found]
        of = at.sampled(origin, subject, metric)
        yield of.mean.estimate(whole, source, unit=one.unit)
        yield of.max.estimate(max(values), source, unit=one.unit)
        if origin == "memory":
            yield of.min.estimate(min(values), source, unit=one.unit)
    yield at.samples.estimate(longest, source)
