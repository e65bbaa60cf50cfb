"""Memory that the machine has left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.criteria.base import Measured, Metric, Missing, Units, Window
from dyno.criteria.sampled import FEW, FEWEST

_BYTES: Units = {
    "B": 1.0, "": 1.0, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3,
}  # fmt: skip


def _measure(window: Window, stat: str, kind: str) -> Measured | Missing:  # noqa: ARG001
    if window.place == "elsewhere":
        return Missing("no samples of the server's machine")
    readings = window.samples("memory", "host", "available")
    if len(readings) < FEWEST:
        return FEW
    note = f"of {window.machine}" if window.machine else "of the machine, including the driver"
    return Measured(min(value for _, value in readings), readings, note)


def metrics(operations: Sequence[str]) -> Iterable[Metric]:  # noqa: ARG001
    """``memory_available``."""
    about = "available memory of the server's machine"
    yield Metric("memory_available", about, (_BYTES,), ("min",), _measure)
