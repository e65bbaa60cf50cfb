"""Response time, from the intended start to the end: of each operation, and of all of them."""

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
        return Missing(f"no {operation} ended")
    return Measured(value, window.latencies_ms(operation, stat))


def _worst(window: Window, stat: str, kind: str) -> Measured | Missing:  # noqa: ARG001
    """The operation with the highest stat decides: a mean over all would hide the slow ones."""
    each = {name: value for name in window.operations
            if (value := window.latency_ms(name, stat)) is not None}  # fmt: skip
    if not each:
        return Missing("no operation ended")
    slowest = max(each, key=lambda name: each[name])
    return Measured(each[slowest], window.latencies_ms(slowest, stat), slowest)


def metrics(operations: Sequence[str]) -> Iterable[Metric]:
    """``response``, and a metric by the name of each operation."""
    yield Metric(
        "response",
        "response time of each operation; the slowest decides",
        (MILLISECONDS,),
        _STATS,
        _worst,
        Default("response p95 < 2 s", f"{LIMITS_OF_2013}; its 'response' is taken as p95 of each"),
        responses=True,
    )
    for name in operations:
        about, measure = f"response time of {name}", partial(_of, name)
        yield Metric(name, about, (MILLISECONDS,), _STATS, measure, responses=True)
