"""Volumes by role: the devices of a role as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from dyno.bundle import metrics
from dyno.bundle.metrics.resource import DeviceMetric, VolumeMetric
from dyno.bundle.model import Estimate
from dyno.bundle.observed import Reading, Series, mean
from dyno.bundle.series import Key

Readings = Mapping[str, Sequence[Reading]]
"""Readings of a device by metric."""

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
    """``resource.<phase>.volume.<role>.<metric>.<mean|max>``; nothing without readings.

    Rates and queues are sums over the devices, means per request are over the requests of all, and
    utilisation is that of the busiest. The maximum is of a reading of all devices.
    """
    source = f"samples in the phase, {len(devices)} device{'s' * (len(devices) != 1)}"
    for metric, (unit, added) in _ADDED.items():
        listed = [one.get(name, ()) for one in devices for name in added]
        means = [value for one in listed if (value := mean(one)) is not None]
        if len(means) < len(listed):
            continue
        moments: dict[int, float] = {}
        for reading in chain(*listed):
            moments[reading.t_ns] = moments.get(reading.t_ns, 0.0) + reading.value
        of = at.volume(role, metric)
        yield of.mean.estimate(sum(means), source, unit=unit)
        yield of.max.estimate(max(moments.values()), source, unit=unit)
    for metric, unit in _PER_REQUEST.items():
        readings = [reading for one in devices for reading in one.get(metric, ())]
        value = mean(readings)
        if value is not None:
            of = at.volume(role, metric)
            yield of.mean.estimate(value, source, unit=unit)
            yield of.max.estimate(max(one.value for one in readings), source, unit=unit)
    busy = [one["utilisation"] for one in devices if one.get("utilisation")]
    means = [value for one in busy if (value := mean(one)) is not None]
    if means:
        of = at.volume(role, "utilisation")
        yield of.mean.estimate(max(means), source, unit="%")
        yield of.max.estimate(max(one.value for one in chain(*busy)), source, unit="%")
