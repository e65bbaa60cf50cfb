"""Response time, from the intended start to the end: of each operation, and of all of them.

A silence, in which nothing ended though somebody waited for it, is in no histogram, or in one for a
single transaction of each user. So a value is at least what whoever asked at any moment of the
window had to wait (``analyse/waits.py`` says how), and each silent interval has one. None may have
asked for a certain operation then; nobody could have had it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from dyno.criteria.base import (
    LIMITS_OF_2013,
    MILLISECONDS,
    QUANTILES,
    Default,
    Measured,
    Metric,
    Missing,
    Window,
)

_STATS = ("p95", *(stat for stat in QUANTILES if stat != "p95"), "mean")


def _of(operation: str, window: Window, stat: str, kind: str) -> Measured | Missing:  # noqa: ARG001
    value = window.latency_ms(operation, stat)
    if value is None:
        # A rare operation may not occur in a short window.
        return Missing(f"no {operation} completed", idle=operation not in window.operations)
    return _with_silence(window, stat, Measured(value, window.latencies_ms(operation, stat)))


def _worst(window: Window, stat: str, kind: str) -> Measured | Missing:  # noqa: ARG001
    """The operation with the highest stat decides: a mean over all would hide the slow ones."""
    each = {name: value for name in window.operations
            if (value := window.latency_ms(name, stat)) is not None}  # fmt: skip
    if not each:
        waited = window.wait_ms(stat)
        if waited is None:
            return Missing("no operation completed")
        return _with_silence(window, stat, Measured(waited))
    slowest = max(each, key=lambda name: each[name])
    found = Measured(each[slowest], window.latencies_ms(slowest, stat), slowest)
    return _with_silence(window, stat, found)


def _with_silence(window: Window, stat: str, found: Measured) -> Measured:
    """The longer of the measured time and the minimum wait of a silence."""
    waited = window.wait_ms(stat)
    if waited is None:
        return found
    note = f"nothing completed for {window.silent_s:g} s while users waited"
    return Measured(
        max(found.value, waited),
        sorted([*found.intervals, *window.waits_ms(stat)]),
        f"{found.note}; {note}" if found.note else note,
    )


def metrics(operations: Sequence[str]) -> Iterable[Metric]:
    """``response``, and a metric by the name of each operation."""
    yield Metric(
        "response",
        "response time of each operation; the slowest counts",
        (MILLISECONDS,),
        _STATS,
        _worst,
        Default(
            "response p95 < 2 s",
            f"{LIMITS_OF_2013}; 'response' there is taken as the p95 of each operation",
        ),
        responses=True,
    )
    for name in operations:
        about, measure = f"response time of {name}", partial(_of, name)
        yield Metric(name, about, (MILLISECONDS,), _STATS, measure, responses=True)
