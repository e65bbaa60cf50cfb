"""Volumes by role: the devices of a role as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from dyno.bundle import metrics
from dyno.bundle.metrics.resource import DeviceMetric, VolumeMetric
from dyno.bundle.model import Estimate
from dyno.bundle.observed import Reading, Series, mean
from dyno.bundle.series import Key

Readings = Mapping[str, Sequence[Reading]]
"""Readings of a device by metric."""


class Combined(NamedTuple):
    """A metric of several devices as one.

    Attributes:
        unit: Its unit.
        mean: Over the whole time.
        intervals: Of each reading: its start (ns since the Unix epoch) and the value.
    """

    unit: str
    mean: float
    intervals: list[tuple[int, float]]


_ADDED: dict[VolumeMetric, tuple[str, tuple[DeviceMetric, ...]]] = {
    "read_iops": ("1/s", ("read_iops",)),
    "write_iops": ("1/s", ("write_iops",)),
    "iops": ("1/s", ("read_iops", "write_iops")),
    "read_mbps": ("MB/s", ("read_mbps",)),
    "write_mbps": ("MB/s", ("write_mbps",)),
    "mbps": ("MB/s", ("read_mbps", "write_mbps")),
    "queue_length": ("count", ("queue_length",)),
}
"""Metrics that devices add up to, with their unit, and the metrics of a device to add."""

_PER_REQUEST: dict[DeviceMetric, str] = {
    "read_share": "%",
    "io_size": "B",
    "read_size": "B",
    "write_size": "B",
    "read_await": "ms",
    "write_await": "ms",
}
"""Means over the requests of all devices, with their unit."""


def between(series: Mapping[Key, Series], device: str, start_ns: int, end_ns: int) -> Readings:
    """The readings of a device of source ``disk`` in a time range (ns since the Unix epoch)."""
    return {
        metric: one.between(start_ns, end_ns)
        for (source, subject, metric), one in series.items()
        if source == "disk" and subject == device
    }


def of_role(at: metrics.Resources, role: str, devices: Sequence[Readings]) -> Iterable[Estimate]:
    """``resource.<phase>.volume.<role>.<metric>.<mean|max>``; nothing without readings."""
    source = f"samples in the phase, {len(devices)} device{'s' * (len(devices) != 1)}"
    for metric, found in combined(devices).items():
        of = at.volume(role, metric)
        yield of.mean.estimate(found.mean, source, unit=found.unit)
        largest = max(value for _, value in found.intervals)
        yield of.max.estimate(largest, source, unit=found.unit)


def combined(devices: Sequence[Readings]) -> dict[VolumeMetric, Combined]:
    """The metrics of several devices as one; metrics without readings are absent.

    Rates and queues are sums over the devices, and so are their intervals. Means per request are
    over the requests of all, and utilisation is that of the busiest; their intervals are those of
    each device.
    """
    found: dict[VolumeMetric, Combined] = {}
    for metric, (unit, added) in _ADDED.items():
        listed = [one.get(name, ()) for one in devices for name in added]
        means = [value for one in listed if (value := mean(one)) is not None]
        if means and len(means) == len(listed):
            found[metric] = Combined(unit, sum(means), _added(chain(*listed)))
    for metric, unit in _PER_REQUEST.items():
        readings = [reading for one in devices for reading in one.get(metric, ())]
        value = mean(readings)
        if value is not None:
            found[metric] = Combined(unit, value, _each(readings))
    busy = [one["utilisation"] for one in devices if one.get("utilisation")]
    means = [value for one in busy if (value := mean(one)) is not None]
    if means:
        found["utilisation"] = Combined("%", max(means), _each(chain(*busy)))
    return found


def _added(readings: Iterable[Reading]) -> list[tuple[int, float]]:
    """The sums of readings that end at the same time."""
    sums: dict[int, tuple[int, float]] = {}
    for one in readings:
        start_ns, value = sums.get(one.t_ns, (one.start_ns, 0.0))
        sums[one.t_ns] = (start_ns, value + one.value)
    return list(sums.values())


def _each(readings: Iterable[Reading]) -> list[tuple[int, float]]:
    return [(one.start_ns, one.value) for one in readings]
