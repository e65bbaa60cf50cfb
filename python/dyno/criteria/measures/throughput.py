"""Throughput: completed operations, including prescribed rollbacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.criteria.base import PER_SECOND, Measured, Metric, Window


def _measure(window: Window, stat: str, kind: str) -> Measured:  # noqa: ARG001
    rates = window.ended()
    value = min(rate for _, rate in rates) if stat == "min" else window.rate()
    return Measured(value, rates)


def metrics(operations: Sequence[str]) -> Iterable[Metric]:  # noqa: ARG001
    """``throughput``."""
    yield Metric(
        "throughput",
        "operations per second, of all kinds",
        (PER_SECOND,),
        ("mean", "min"),
        _measure,
    )
