"""Failed operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.criteria.base import COUNT, PERCENT, Measured, Metric, Missing, Window


def _measure(window: Window, stat: str, kind: str) -> Measured | Missing:  # noqa: ARG001
    failed = window.failed()
    if kind != "%":
        return Measured(sum(count for _, count in failed), failed)
    attempted = dict(window.attempted())
    total = sum(attempted.values())
    if total <= 0:
        return Missing("no operation completed")
    shares = [(t_ns, 100 * count / attempted[t_ns]) for t_ns, count in failed if attempted[t_ns]]
    return Measured(100 * sum(count for _, count in failed) / total, shares)


def metrics(operations: Sequence[str]) -> Iterable[Metric]:  # noqa: ARG001
    """``errors``, as a count or as a share of all operations."""
    yield Metric("errors", "failed operations", (COUNT, PERCENT), ("total",), _measure)
