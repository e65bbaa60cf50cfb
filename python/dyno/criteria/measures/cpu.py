"""CPU usage of the server's machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.criteria.base import LIMITS_OF_2013, PERCENT, Default, Measured, Metric, Missing, Window
from dyno.criteria.sampled import FEW, FEWEST, not_observed


def _measure(window: Window, stat: str, kind: str) -> Measured | Missing:  # noqa: ARG001
    missing = not_observed(window)
    if missing:
        return missing
    readings = window.samples("cpu", "host", "busy")
    if len(readings) < FEWEST:
        return FEW
    largest = max(value for _, value in readings)
    value = largest if stat == "max" else window.mean("cpu", "host", "busy")
    if value is None:
        return FEW
    note = f"of {window.machine}" if window.machine else "of the machine, including the driver"
    return Measured(value, readings, note)


def metrics(operations: Sequence[str]) -> Iterable[Metric]:  # noqa: ARG001
    """``cpu`` and ``cpu_max``."""
    yield Metric(
        "cpu",
        "busy time of all CPUs of the server's machine",
        (PERCENT,),
        ("mean", "max"),
        _measure,
        Default("cpu mean < 80 %", LIMITS_OF_2013),
    )
    about = "highest busy time of all CPUs of the server's machine"
    yield Metric("cpu_max", about, ({**PERCENT, "": 1.0},), ("max",), _measure)
