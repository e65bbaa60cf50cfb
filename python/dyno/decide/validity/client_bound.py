"""Client-bound: the driver, not the server, was the bottleneck."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.model import Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.config.rates import recorded
from dyno.criteria import asked, known
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight

MOST_CPU_PERCENT = 70.0
MOST_THREAD_PERCENT = 90.0
MOST_LAG_MS = 1.0
MOST_LAG_PERCENT = 1.0
"""Of the tightest binding limit on response times."""


_SIGNS = {
    "client_cpu_percent": (MOST_CPU_PERCENT, "its threads were busy {:.0f} % of the time"),
    "client_thread_percent": (MOST_THREAD_PERCENT, "its busiest thread {:.0f} %"),
    "lag_p99_ms": (MOST_LAG_MS, "p99 of its schedule lag was {:.1f} ms"),
}
"""Metrics of the driver: threshold and message."""


def signs(case: Case, phase: Phase[OltpDetail], name: str) -> dict[str, str]:
    """Evidence that the driver limited a level: estimate names and messages.

    With a variable rate the mean over the window hides the peak, so the worst part of the window
    counts too. With a constant rate it does not: a short burst of background load could decide it.
    """
    seen: dict[str, str] = {}
    rate = recorded(phase.detail.rate_per_s)
    parts = ("", "_worst") if rate is not None and rate.changes else ("",)
    for figure, (most, words) in _SIGNS.items():
        for part in parts:
            stem, _, unit = figure.rpartition("_")
            key = f"{name}.{stem}{part}"
            value = case.value(f"{key}_{unit}")
            lags = figure == "lag_p99_ms" and not phase.detail.is_open
            if value is None or value <= most or lags:
                continue
            when = f"{case.value(f'{key}_at_s') or 0.0:.0f} s into the window " if part else ""
            seen[f"{key}_{unit}"] = when + words.format(value)
            break
    return seen


def _check(case: Case) -> Iterable[Ruling]:
    for phase, name in case.bounding():
        seen = signs(case, phase, name)
        if seen:
            less = "reduce --rate" if phase.detail.is_open else "use fewer users"
            yield Ruling(
                "invalid",
                f"{phase.title}: the driver was the bottleneck: {', '.join(seen.values())}. "
                f"Run the driver on another machine, or {less}.",
                phase.name,
                tuple(seen),
            )
    yield from _check_slo(case)


def _check_slo(case: Case) -> Iterable[Ruling]:
    """A lag below the threshold may still be large against a limit on response times."""
    run = case.bundle.run
    words = known(run)
    limits = [
        limit.limit * words[limit.metric].units[limit.unit][1]
        for limit in asked(run)
        if limit.binding and limit.op in {"<", "<="} and words[limit.metric].responses
    ]
    for phase, name in case.levels():
        lag = case.value(f"{name}.lag_p99_ms")
        if lag is None or not limits or not phase.detail.is_open or lag > MOST_LAG_MS:
            continue
        if lag * 100 > min(limits) * MOST_LAG_PERCENT:
            yield Ruling(
                "warning",
                f"{phase.title}: p99 schedule lag of the driver was {lag:.2g} ms, more than "
                f"{MOST_LAG_PERCENT:g} % of the {min(limits):g} ms limit on response times, which "
                "include it. Run the driver on another machine, or reduce --rate.",
                phase.name,
                (f"{name}.lag_p99_ms",),
            )


RULE = Rule(
    code="client-bound",
    weight=Weight.DOUBTFUL,
    definition=(
        f"The driver's threads used more than {MOST_CPU_PERCENT:g} % CPU on average, one thread "
        f"used more than {MOST_THREAD_PERCENT:g} %, or, in an open loop, p99 schedule lag exceeded "
        f"{MOST_LAG_MS:g} ms. Warning: p99 schedule lag above {MOST_LAG_PERCENT:g} % of the "
        "tightest binding limit on response times. With a variable rate the rule also applies to "
        "each twentieth of the window (at least five intervals). In a search for the maximum the "
        "rule applies to windows at the maximum and at the smallest failing load."
    ),
    explanation=(
        "A slow driver makes all servers look alike, and its delays count as latency. Schedule lag "
        "is the delay of a start although a session was free, or while the driver was stalled. "
        "CPU time of an embedded engine does not count: it runs in other threads."
    ),
    check=_check,
)
