"""Client-bound: the driver, not the server, set the pace."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.criteria import asked, known
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.model import Phase

MOST_CPU_PERCENT = 70.0
MOST_THREAD_PERCENT = 90.0
MOST_LAG_MS = 1.0
MOST_LAG_PERCENT = 1.0
"""Of the tightest limit on response times that decides the exit code."""


def signs(case: Case, phase: Phase, name: str) -> dict[str, str]:
    """What shows that the driver set the pace of a level: names of estimates, and words."""
    seen: dict[str, str] = {}
    cpu = case.value(f"{name}.client_cpu_percent")
    if cpu is not None and cpu > MOST_CPU_PERCENT:
        seen[f"{name}.client_cpu_percent"] = f"its threads were busy {cpu:.0f} % of the time"
    thread = case.value(f"{name}.client_thread_percent")
    if thread is not None and thread > MOST_THREAD_PERCENT:
        seen[f"{name}.client_thread_percent"] = f"its busiest thread {thread:.0f} %"
    lag = case.value(f"{name}.lag_p99_ms")
    if lag is not None and lag > MOST_LAG_MS and _is_open(phase.detail):
        seen[f"{name}.lag_p99_ms"] = f"p99 of its schedule lag was {lag:.1f} ms"
    return seen


def _check(case: Case) -> Iterable[Ruling]:
    for phase, name in case.bounding():
        seen = signs(case, phase, name)
        if seen:
            less = "at a lower --rate" if _is_open(phase.detail) else "with fewer users"
            yield Ruling(
                "invalid",
                f"{phase.title}: the driver was the bottleneck: {', '.join(seen.values())}. "
                f"Drive from another machine, or {less}.",
                phase.name,
                tuple(seen),
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
    for phase, name in case.levels():
        lag = case.value(f"{name}.lag_p99_ms")
        if lag is None or not limits or not _is_open(phase.detail) or lag > MOST_LAG_MS:
            continue
        if lag * 100 > min(limits) * MOST_LAG_PERCENT:
            yield Ruling(
                "warning",
                f"{phase.title}: p99 of the driver's schedule lag was {lag:.2g} ms, more than "
                f"{MOST_LAG_PERCENT:g} % of the limit of {min(limits):g} ms on response times, "
                "which count it. Drive from another machine, or at a lower --rate.",
                phase.name,
                (f"{name}.lag_p99_ms",),
            )


def _is_open(detail: dict[str, object]) -> bool:
    loop = detail.get("loop")
    return isinstance(loop, dict) and loop.get("kind") == "open"


RULE = Rule(
    code="client-bound",
    weight=Weight.DOUBTFUL,
    definition=(
        f"CPU above {MOST_CPU_PERCENT:g} % of the driver's threads' time, a thread above "
        f"{MOST_THREAD_PERCENT:g} %, or, in an open loop, p99 of the schedule lag above "
        f"{MOST_LAG_MS:g} ms (a warning: above {MOST_LAG_PERCENT:g} % of the tightest limit on "
        "response times that the run was asked to keep). Of a search for the maximum: in a window "
        "of the maximum, or of the smallest load that fails."
    ),
    explanation=(
        "A slow driver makes every server look alike, and its delays count as latency. Schedule "
        "lag is how late it was with starts that had a session free, and with those that fell due "
        "while it stood still. What an engine inside Dyno's own process takes is no driver's time: "
        "it works in other threads."
    ),
    check=_check,
)
