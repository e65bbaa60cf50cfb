"""A recording of a system that Dyno did not load: its means, its busiest hour, its gaps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from dyno.analyse.readings import Readings
from dyno.bundle import metrics
from dyno.bundle.carriers import of_target
from dyno.bundle.inside import CLERKS, CLOCK, SESSIONS
from dyno.bundle.metrics.watch import BUSIEST, LOADS, Load
from dyno.bundle.model import Estimate, Phase, Run, those
from dyno.bundle.phases.watch import WatchDetail
from dyno.bundle.reader import Bundle

HOUR_S = 3600.0
_BIN_S = 60.0
_LEAST_GAP_S = 5.0
_RARE = frozenset({CLOCK, CLERKS})
"""Sources that are read too rarely to show a gap."""
_SOURCE = "samples in the recording"
_IN_HOUR = "samples in the busiest hour"
_UNITS: dict[Load, str] = {"iops": "1/s", "cpu": "%", "sessions": "count"}


def watch(bundle: Bundle) -> list[Estimate]:
    """Metrics of each recording.

    ``resource.<phase>.…`` are those of the whole recording, ``resource.<phase>/busiest-hour.…`` of
    its busiest hour: by requests of the devices, without any by CPU time. Means are weighted as in
    ``dyno.bundle.observed``. ``watch.<phase>.…`` has the busiest hours by each kind of load and the
    time without readings of the database.
    """
    phases = [one for one in those(bundle.run.phases, WatchDetail) if one.end_ns is not None]
    if not phases:
        return []
    found = Readings.of(bundle.table("samples"))
    return [one for phase in phases for one in _phase(bundle.run, phase, found)]


def _phase(run: Run, phase: Phase[WatchDetail], found: Readings) -> Iterable[Estimate]:
    span = phase.start_ns, phase.end_ns or phase.start_ns
    at = metrics.Watch(phase.name)
    nested = {name for names in of_target(run, phase.target).values() for name in names}

    def whole(machine: str) -> metrics.Resources:
        return metrics.Resources(phase.name, machine=machine)

    def busiest(machine: str) -> metrics.Resources:
        return metrics.Resources(phase.name, BUSIEST, machine)

    yield from found.estimates(whole, span, nested, _SOURCE)
    hours: dict[Load, tuple[int, int]] = {}
    for load in LOADS:
        rates = _rates(run, phase, found, load, span)
        if rates is None:
            continue
        start, end = _busiest(rates)
        hours[load] = span[0] + round(start * _BIN_S * 1e9), span[0] + round(end * _BIN_S * 1e9)
        hours[load] = hours[load][0], min(hours[load][1], span[1])
        of, unit = at.busiest(load), _UNITS[load]
        yield of.start_s.estimate(start * _BIN_S, _SOURCE)
        yield of.seconds.estimate((hours[load][1] - hours[load][0]) / 1e9, _SOURCE)
        yield of.mean.estimate(float(rates[start:end].mean()), _SOURCE, unit=unit)
        yield of.whole_mean.estimate(float(rates.mean()), _SOURCE, unit=unit)
    if hours:
        hour = next(iter(hours.values()))
        yield from found.estimates(busiest, hour, nested, _IN_HOUR)
    frequent = {*phase.detail.probes} - _RARE
    # A server whose clock was read responded: if nothing else was, it lacks these views.
    if frequent and (any(len(found.times(one)) for one in frequent) or not len(found.times(CLOCK))):
        gaps = _gaps(found, frequent, span)
        source = "time without readings of the database"
        yield at.gaps.estimate(float(len(gaps)), source)
        yield at.gap_s.estimate(float(gaps.sum()), source)
        yield at.longest_gap_s.estimate(float(gaps.max(initial=0.0)), source)


def _rates(
    run: Run, phase: Phase[WatchDetail], found: Readings, load: Load, span: tuple[int, int]
) -> npt.NDArray[np.float64] | None:
    """The load by minute; None if it was not sampled, or there was none."""
    facts = run.targets.get(phase.target or "")
    suffix = f"@{facts.machine}" if facts is not None and facts.machine else ""
    if load == "sessions":
        keys = [key for key in found if key[:2] == (SESSIONS, phase.target)]
    elif load == "cpu":
        keys = [(f"cpu{suffix}", "host", one) for one in ("busy", "steal")]
    else:
        own = {name for names in of_target(run, phase.target).values() for name in names}
        devices = {key[:2] for key in found if key[0] == f"disk{suffix}"}
        nested = {key[:2] for key in found if key[0] == f"nested_disk{suffix}"}
        used = {one for one in devices | nested if one[1] in own} or devices
        keys = [(*one, f"{side}_iops") for one in used for side in ("read", "write")]
    bins = max(1, int(np.ceil((span[1] - span[0]) / 1e9 / _BIN_S)))
    whole = np.zeros(bins)
    for key in keys:
        whole += found.by_bin(key, span, round(_BIN_S * 1e9), bins)
    return whole if whole.any() else None


def _busiest(rates: npt.NDArray[np.float64]) -> tuple[int, int]:
    """The bounds of the hour with most load, in bins; all of a shorter recording."""
    length = round(HOUR_S / _BIN_S)
    if len(rates) <= length:
        return 0, len(rates)
    sums = np.convolve(rates, np.ones(length), "valid")
    start = int(sums.argmax())
    return start, start + length


def _gaps(
    found: Readings, sources: Iterable[str], span: tuple[int, int]
) -> npt.NDArray[np.float64]:
    """Lengths of the times without any reading of these sources, in s."""
    every = [found.times(source) for source in sources]
    moments = np.unique(np.concatenate([*every, np.array([], np.int64)]))
    moments = moments[(moments >= span[0]) & (moments <= span[1])]
    steps = np.diff(np.concatenate([[span[0]], moments, [span[1]]])) / 1e9
    usual = float(np.median(np.diff(moments))) / 1e9 if len(moments) > 1 else 1.0
    return steps[steps > max(_LEAST_GAP_S, 5 * usual)] - usual
