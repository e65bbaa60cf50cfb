"""Driver: the driver is the bottleneck."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.model import has_detail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.decide.validity.client_bound import MOST_CPU_PERCENT, MOST_THREAD_PERCENT, signs
from dyno.decide.view import Limit, LimitRule, View


def _weigh(view: View) -> Limit | None:
    at = view.level
    cpu = view.case.value(at.client_cpu_percent) or 0.0
    thread = view.case.value(at.client_thread_percent) or 0.0
    if view.phase.kind != "oltp":
        return None
    if cpu <= MOST_CPU_PERCENT and thread <= MOST_THREAD_PERCENT:
        return _at_the_peak(view, at)
    return Limit(
        "the driver",
        1.0,
        f"its threads were busy {cpu:.0f} % of the time{view.case.span(at)}, the busiest "
        f"{thread:.0f} %",
        (at.client_cpu_percent.name, at.client_thread_percent.name),
    )


def _at_the_peak(view: View, at: metrics.Level) -> Limit | None:
    """The same, for a variable rate that was too high in part of the window."""
    if not has_detail(view.phase, OltpDetail):
        return None
    lags = (at.lag_p99_ms, at.lag_p99_worst_ms)
    seen = signs(view.case, view.phase, at)
    busy = {key: words for key, words in seen.items() if key not in lags}
    return (
        Limit("the driver", 1.0, ", ".join(busy.values()), tuple(key.name for key in busy))
        if busy
        else None
    )


RULE = LimitRule(
    code="client",
    definition="The run is client-bound. This rule takes precedence over all others.",
    explanation="The server's bottleneck is hidden while the driver is saturated.",
    weigh=_weigh,
    anywhere=True,
)
