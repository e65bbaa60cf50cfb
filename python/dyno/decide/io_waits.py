"""A bottleneck in the I/O of one role: the sessions' waits with the device under its files."""

from __future__ import annotations

from dyno.bundle.inside import SOURCE, Inside, WaitClass
from dyno.bundle.metrics.resource import DeviceMetric
from dyno.bundle.model import Role
from dyno.decide.throttle import throttle
from dyno.decide.view import Device, Limit, View
from dyno.decide.waits import LEAST_SHARE

_LOG = {Inside.log_flush: "a flush", Inside.log_wait: "a commit"}
"""Times of the log as databases report them."""


def io_limit(
    view: View, wait: WaitClass, role: Role, resource: str, also: tuple[Inside, str] | None = None
) -> Limit | None:
    """The bottleneck, if sessions spend enough of their time in this class of waits.

    Its share is that of the sessions' time, or the utilisation of the device or of the run's limit
    on it, if that is larger and most of the time is spent waiting.

    Args:
        view: The phase.
        wait: The class of waits.
        role: The role of the files.
        resource: Their name in the report.
        also: A metric of the database as further evidence, and a format of its value.
    """
    waits = view.waits
    if waits is None or (share := waits.share(wait)) < LEAST_SHARE:
        return None
    facts, evidence = [waits.words(wait)], list(waits.names.get(wait, ()))
    device = view.carrier(role)
    if device is not None:
        metric: DeviceMetric = "read_await" if wait == "data" else "write_await"
        measured = [view.resources.device(device.name, one) for one in ("utilisation", metric)]
        evidence += [one.mean.name for one in measured if view.mean(one) is not None]
        facts.insert(0, f"{_title(view, device, role)} {device.utilisation:.0f} % busy")
        used = [device.utilisation / 100]
        if (limited := throttle(view, device)) is not None:
            facts.insert(1, limited.words)
            evidence.append(limited.evidence)
            used.append(limited.share)
        facts.insert(-1, _took(view, wait, device))
        facts[:-1] = [", ".join(facts[:-1])]
        share = max(share, *used) if share >= 0.5 else share
        resource = f"{resource} ({device.name})"
    if wait == "log":
        evidence += [_reported(view, one) for one in _LOG if view.inside(one) is not None]
    if also is not None and (value := view.inside(also[0])) is not None:
        facts.append(also[1].format(value))
        evidence.append(_reported(view, also[0]))
    name = "" if device is None else device.name
    return Limit(resource, min(share, 1.0), "; ".join(facts), tuple(evidence), name)


def _reported(view: View, metric: Inside) -> str:
    """The estimate of a metric that the database reports."""
    return view.reported.sampled(SOURCE, str(view.phase.target), metric).mean.name


def _took(view: View, wait: WaitClass, device: Device) -> str:
    """``3.8 ms a write``: as the database reports for its log, else of the device."""
    if wait == "log":
        for metric, words in _LOG.items():
            if (value := view.inside(metric)) is not None:
                return f"{value:.1f} ms {words}"
    if wait == "data":
        return f"{device.read_await:.1f} ms a read"
    return f"{device.write_await:.1f} ms a write"


def _title(view: View, device: Device, role: Role) -> str:
    """``log device vdb``; with its other roles, whose I/O cannot be told apart."""
    others = [one for one in view.roles(device) if one != role]
    shared = f" (also {' and '.join(others)})" if others else ""
    return f"{role} device {device.name}{shared}"
