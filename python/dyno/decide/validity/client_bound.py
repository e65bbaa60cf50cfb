"""Client-bound: the driver, not the server, was the bottleneck."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.io import IoDetail
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


_L = metrics.Level
_SIGNS = (
    (
        _L.client_cpu_percent,
        (_L.client_cpu_worst_percent, _L.client_cpu_worst_at_s),
        MOST_CPU_PERCENT,
        "its threads were busy {:.0f} % of the time",
    ),
    (
        _L.client_thread_percent,
        (_L.client_thread_worst_percent, _L.client_thread_worst_at_s),
        MOST_THREAD_PERCENT,
        "its busiest thread {:.0f} %",
    ),
    (
        _L.lag_p99_ms,
        (_L.lag_p99_worst_ms, _L.lag_p99_worst_at_s),
        MOST_LAG_MS,
        "p99 of its schedule lag was {:.1f} ms",
    ),
)
"""Metrics of the driver, over the window and in its worst part; threshold and message."""


def signs(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> dict[metrics.Key, str]:
    """Evidence that the driver limited a level: metrics and messages.

    With a variable rate the mean over the window hides the peak, so the worst part of the window
    counts too. With a constant rate it does not: a short burst of background load could decide it.
    """
    seen: dict[metrics.Key, str] = {}
    rate = recorded(phase.detail.rate_per_s)
    changes = rate is not None and rate.changes
    for whole, (worst, worst_at_s), most, words in _SIGNS:
        if whole == _L.lag_p99_ms and not phase.detail.is_open:
            continue
        value, peak = case.value(whole.of(at)), case.value(worst.of(at))
        if value is not None and value > most:
            seen[whole.of(at)] = words.format(value)
        elif changes and peak is not None and peak > most:
            when = f"{case.value(worst_at_s.of(at)) or 0.0:.0f} s into the window "
            seen[worst.of(at)] = when + words.format(peak)
    return seen


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.bounding():
        seen = signs(case, phase, at)
        if seen:
            less = "reduce --rate" if phase.detail.is_open else "use fewer users"
            yield Ruling(
                "invalid",
                f"{phase.title}: the driver was the bottleneck{case.span(at)}: "
                f"{', '.join(seen.values())}. Run the driver on another machine, or {less}.",
                phase.name,
                tuple(key.name for key in seen),
            )
    yield from _check_slo(case)
    for phase in case.phases_of(IoDetail):
        yield from _check_storage(case, phase)


def _check_storage(case: Case, phase: Phase[IoDetail]) -> Iterable[Ruling]:
    """Best loads of closed loops whose busiest I/O thread had no time left; rates have ``late``."""
    busy: dict[str, tuple[float, str]] = {}
    for step in case.steps_in(phase):
        used = case.value(step.metrics.thread_percent)
        if used is None or used <= MOST_THREAD_PERCENT or step.load.by_rate:
            continue
        if case.is_best(step):
            busy[step.curve] = (used, step.metrics.thread_percent.name)
    if busy:
        named = ", ".join(f"{curve} ({used:.0f} %)" for curve, (used, _) in busy.items())
        yield Ruling(
            "warning",
            f"{phase.title}: at the best load one of Dyno's I/O threads was busy all the time: "
            f"{named}. The volume may be faster. Use a profile with several jobs, each of which "
            "has a thread.",
            phase.name,
            tuple(name for _, name in busy.values()),
        )


def _check_slo(case: Case) -> Iterable[Ruling]:
    """A lag below the threshold may still be large against a limit on response times."""
    run = case.bundle.run
    words = known(run)
    limits = [
        limit.limit * words[limit.metric].units[limit.unit][1]
        for limit in asked(run)
        if limit.binding and limit.op in {"<", "<="} and words[limit.metric].responses
    ]
    for phase, at in case.levels():
        lag = case.value(at.lag_p99_ms)
        if lag is None or not limits or not phase.detail.is_open or lag > MOST_LAG_MS:
            continue
        if lag * 100 > min(limits) * MOST_LAG_PERCENT:
            yield Ruling(
                "warning",
                f"{phase.title}: p99 schedule lag of the driver{case.span(at)} was {lag:.2g} ms, "
                f"more than {MOST_LAG_PERCENT:g} % of the {min(limits):g} ms limit on response "
                "times, which include it. Run the driver on another machine, or reduce --rate.",
                phase.name,
                (at.lag_p99_ms.name,),
            )


RULE = Rule(
    code="client-bound",
    weight=Weight.DOUBTFUL,
    definition=(
        f"The driver's threads used more than {MOST_CPU_PERCENT:g} % CPU on average, one thread "
        f"used more than {MOST_THREAD_PERCENT:g} %, or, in an open loop, p99 schedule lag exceeded "
        f"{MOST_LAG_MS:g} ms. Warning: p99 schedule lag above {MOST_LAG_PERCENT:g} % of the "
        "tightest binding limit on response times, or a storage profile's best load at which an "
        f"I/O thread used more than {MOST_THREAD_PERCENT:g} %. With a variable rate the rule also "
        "applies to each twentieth of the window (at least five intervals). In a search for the "
        "maximum the rule applies to windows at the maximum and at the smallest failing load."
    ),
    explanation=(
        "A slow driver makes all servers look alike, and its delays count as latency. Schedule lag "
        "is the delay of a start although a session was free, or while the driver was stalled. "
        "CPU time of an embedded engine does not count: it runs in other threads."
    ),
    check=_check,
)
