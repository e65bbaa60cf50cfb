"""Latency of the volumes under the server: data read, data written, log written.

The mean is over requests (``dyno.bundle.observed``). Of several devices the slowest decides. Read
off the kernel, from queueing to completion. The kernel does not say which file a write is for: on a
device that carries data and log, writes of the log cannot be separated and are not judged, and
those of data include them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from dyno.bundle.model import Role
from dyno.criteria.base import (
    LIMITS_OF_2013,
    MILLISECONDS,
    Default,
    Direction,
    Measured,
    Metric,
    Missing,
    Window,
)
from dyno.criteria.sampled import FEW, FEWEST, not_observed


def _measure(
    what: Role, side: Direction, window: Window, stat: str, kind: str  # noqa: ARG001
) -> Measured | Missing:  # fmt: skip
    missing = not_observed(window)
    if missing:
        return missing
    devices = window.devices(what)
    if not devices:
        return Missing(f"the device of the server's {what} is unknown")
    data, log = window.devices("data"), window.devices("log")
    shared = [name for name in devices if name in data and name in log]
    if what == "log" and (shared or not data):
        reason = (
            f"log and data share {' and '.join(shared)}"
            if shared
            else ("it is unknown whether the log has its own device")
        )
        return Missing(reason, idle=True)
    found: dict[str, Measured] = {}
    for device in devices:
        if len(window.samples("disk", device, f"{side}_iops")) < FEWEST:
            return FEW
        waits = window.samples("disk", device, f"{side}_await")
        value = window.mean("disk", device, f"{side}_await")
        if value is None:
            continue
        if stat == "max":
            value = max(wait for _, wait in waits)
        both = side == "write" and device in shared
        found[device] = Measured(value, waits, f"{device}, including the log" if both else device)
    if not found:
        return Missing(f"no {side}s reached {' or '.join(devices)}", idle=True)
    return max(found.values(), key=lambda measured: measured.value)


def _metric(name: str, what: Role, side: Direction, limit: str) -> Metric:
    verb = "reads from" if side == "read" else "writes to"
    return Metric(
        name,
        f"latency of {verb} the devices under the server's {what}",
        (MILLISECONDS,),
        ("mean", "max"),
        partial(_measure, what, side),
        Default(f"{name} mean < {limit}", LIMITS_OF_2013),
    )


def metrics(operations: Sequence[str]) -> Iterable[Metric]:  # noqa: ARG001
    """``data_read``, ``data_write`` and ``log_write``."""
    yield _metric("data_read", "data", "read", "20 ms")
    yield _metric("data_write", "data", "write", "20 ms")
    yield _metric("log_write", "log", "write", "5 ms")
