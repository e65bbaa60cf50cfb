"""How far a device used up the run's limits on its I/O.

The kernel holds requests back before it counts them, so a throttled device looks idle and fast.
"""

from __future__ import annotations

from dataclasses import dataclass

from dyno.bundle.metrics.resource import DeviceMetric
from dyno.config.units import parse_bytes
from dyno.decide.view import Device, View
from dyno.errors import UsageError

LEAST, MOST = 0.9, 1.1
"""Shares of a limit at which it is used up. Above, most I/O is not subject to it: version 1 of
control groups does not limit writeback, and other processes share the device."""

_METRICS: dict[str, tuple[DeviceMetric, float, str]] = {
    "read_iops": ("read_iops", 1.0, "reads/s"),
    "write_iops": ("write_iops", 1.0, "writes/s"),
    "read_bytes": ("read_mbps", 1e6, "MB/s read"),
    "write_bytes": ("write_mbps", 1e6, "MB/s written"),
}
"""By limit: the metric of the device, how many of the limit's units are one of it, and its unit."""


@dataclass(frozen=True)
class Throttle:
    """A limit of the run that a device used up.

    Attributes:
        share: The share of it that was used, at most 1.
        words: ``199 of 200 writes/s (--limit write_iops=200)``.
        evidence: The estimate behind it.
    """

    share: float
    words: str
    evidence: str


def throttle(view: View, device: Device) -> Throttle | None:
    """The limit that a device used up most; None if none was."""
    confined = view.case.bundle.run.confined
    disks = _disks(view, device)
    if confined is None or not disks & set(confined.devices):
        return None
    found: list[Throttle] = []
    for word, (metric, factor, unit) in _METRICS.items():
        text = confined.limits.get(word)
        size = None if text is None else _size(text)
        if size is None:
            continue
        value, most = getattr(device, metric), size / factor
        if LEAST <= value / most <= MOST:
            words = f"{value:,.0f} of {most:,.0f} {unit} (--limit {word}={text})"
            name = view.resources.device(device.name, metric).mean.name
            found.append(Throttle(min(value / most, 1.0), words, name))
    return max(found, key=lambda one: one.share, default=None)


def _disks(view: View, device: Device) -> set[str]:
    """A device and the disks under it: limits hold for whole disks."""
    facts = view.case.bundle.run.targets.get(view.phase.target or "")
    listed = () if facts is None else facts.disks.get(device.name, ())
    return {device.name, *(str(disk.get("name")) for disk in listed)}


def _size(text: str) -> float | None:
    """The size of a limit; None if it is unreadable."""
    try:
        return float(parse_bytes(text))
    except UsageError:
        return None
