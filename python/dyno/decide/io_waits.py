"""A bottleneck in the I/O of one role: the sessions' waits with the device under its files."""

from __future__ import annotations

from dyno.bundle.inside import Inside, WaitClass
from dyno.bundle.metrics.resource import DeviceMetric
from dyno.bundle.model import Role
from dyno.decide.view import Device, Limit, View
from dyno.decide.waits import LEAST_SHARE


def io_limit(view: View, wait: WaitClass, role: Role, resource: str) -> Limit | None:
    """The bottleneck, if sessions spend enough of their time in this class of waits.

    Its share is that of the sessions' time, or the utilisation of the device, if that is larger and
    most of the time is spent waiting.
    """
    waits = view.waits
    if waits is None or (share := waits.share(wait)) < LEAST_SHARE:
        return None
    device = view.carrier(role)
    facts, evidence = waits.words(wait), list(waits.names.get(wait, ()))
    if device is None:
        return Limit(resource, min(share, 1.0), facts, tuple(evidence))
    took = _took(view, wait, device)
    words = f"{_title(view, device, role)} {device.utilisation:.0f} % busy, {took}"
    metric: DeviceMetric = "read_await" if wait == "data" else "write_await"
    measured = (view.resources.device(device.name, one).mean for one in ("utilisation", metric))
    evidence += [key.name for key in measured if view.case.value(key) is not None]
    if share >= 0.5:
        share = max(share, device.utilisation / 100)
    name = f"{resource} ({device.name})"
    return Limit(name, min(share, 1.0), f"{words}; {facts}", tuple(evidence), device.name)


def _took(view: View, wait: WaitClass, device: Device) -> str:
    """``3.8 ms a write``: as the database reports for its log, else of the device."""
    if wait == "log" and (flush := view.inside(Inside.log_flush)) is not None:
        return f"{flush:.1f} ms a flush"
    if wait == "data":
        return f"{device.read_await:.1f} ms a read"
    return f"{device.write_await:.1f} ms a write"


def _title(view: View, device: Device, role: Role) -> str:
    """``log device vdb``; with its other roles, whose I/O cannot be told apart."""
    others = [one for one in view.roles(device) if one != role]
    shared = f" (also {' and '.join(others)})" if others else ""
    return f"{role} device {device.name}{shared}"
