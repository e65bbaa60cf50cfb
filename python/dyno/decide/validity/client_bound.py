"""Client-bound: the driver, not the server, set the pace."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
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
"""Of the tightest limit on response times that decides the exit code."""


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
"""Metrics of the driver, over the window and in its worst part; limits, and words beyond them."""


def signs(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> dict[metrics.Key, str]:
    """What shows that the driver set the pace of a level: metrics, and words.

    Where a rate changes, an average over the window tells nothing of its peak: then the worst part
    of the window counts as well. Where it does not, a part is only a shorter average, which one
    moment of other work on the machine may decide.
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
            less = "at a lower --rate" if phase.detail.is_open else "with fewer users"
            yield Ruling(
                "invalid",
                f"{phase.title}: the driver was the bottleneck: {', '.join(seen.values())}. "
                f"Drive from another machine, or {less}.",
                phase.name,
                tuple(key.name for key in seen),
            )
    yield from _check_slo(case)


def _check_slo(case: Case) -> Iterable[Ruling]:
    """A lag below the limit may still be much of a response time that is asked for."""
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
                f"{phase.title}: p99 of the driver's schedule lag was {lag:.2g} ms, more than "
                f"{MOST_LAG_PERCENT:g} % of the limit of {min(limits):g} ms on response times, "
                "which count it. Drive from another machine, or at a lower --rate.",
                phase.name,
                (at.lag_p99_ms.name,),
            )


RULE = Rule(
    code="client-bound",
    weight=Weight.DOUBTFUL,
    definition=(
        f"CPU above {MOST_CPU_PERCENT:g} % of the driver's threads' time, a thread above "
        f"{MOST_THREAD_PERCENT:g} %, or, in an open loop, p99 of the schedule lag above "
        f"{MOST_LAG_MS:g} ms (a warning: above {MOST_LAG_PERCENT:g} % of the tightest limit on "
        "response times that the run was asked to keep); of a rate that changes also in a "
        "twentieth of the window, five intervals at least. Of a search for the maximum: in a "
        "window of the maximum, or of the smallest load that fails."
    ),
    explanation=(
        "A slow driver makes every server look alike, and its delays count as latency. Schedule "
        "lag is how late it was with starts that had a session free, and with those that fell due "
        "while it stood still. What an engine inside Dyno's own process takes is no driver's time: "
        "it works in other threads."
    ),
    check=_check,
)
