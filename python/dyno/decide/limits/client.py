"""The client: the driver itself is what is busy."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.model import tells
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
        f"its threads were busy {cpu:.0f} % of the time, the busiest {thread:.0f} %",
        (at.client_cpu_percent.name, at.client_thread_percent.name),
    )


def _at_the_peak(view: View, at: metrics.Level) -> Limit | None:
    """The same where a rate was too high for the driver in a part of the window only."""
    if not tells(view.phase, OltpDetail):
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
    definition="The driver is over its limits of validity; it then goes before all others.",
    explanation="Nothing can be said of the server before the driver has room.",
    weigh=_weigh,
)
