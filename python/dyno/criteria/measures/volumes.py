"""Latency of the volumes under the server: data read, data written, log written.

The mean is over requests: each second's mean counts by the requests of that second. Of several
devices the slowest decides. Read off the kernel, from queueing to completion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal

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

Volume = Literal["data", "log"]


def _measure(
    what: Volume, side: Direction, window: Window, stat: str, kind: str  # noqa: ARG001
) -> Measured | Missing:  # fmt: skip
    missing = not_observed(window)
    if missing:
        return missing
    devices = window.devices(what)
    if not devices:
        return Missing(f"which device carries the server's {what} is not known")
    found: dict[str, Measured] = {}
    for device in devices:
        counts = dict(window.samples("disk", device, f"{side}_iops"))
        waits = window.samples("disk", device, f"{side}_await")
        if len(counts) < FEWEST:
            return FEW
        requests = sum(counts.get(t_ns, 0.0) for t_ns, _ in waits)
        if not waits or requests <= 0:
            continue
        total = sum(counts.get(t_ns, 0.0) * wait for t_ns, wait in waits)
        value = max(wait for _, wait in waits) if stat == "max" else total / requests
        found[device] = Measured(value, waits, device)
    if not found:
        return Missing(f"no {side}s: none reached {' or '.join(devices)}", idle=True)
    return max(found.values(), key=lambda measured: measured.value)


def _metric(name: str, what: Volume, side: Direction, limit: str) -> Metric:
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
