"""Rate not sustained: the target or the driver fell behind the requested rate."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.config.rates import recorded
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.decide.validity.client_bound import signs
from dyno.profiles.steps import Step, windows

MOST_LATE_PERCENT = 1.0


def _check(case: Case) -> Iterable[Ruling]:
    yield from _storage(case)
    for phase, at in case.levels():
        if phase.detail.is_replay:
            continue  # judged by workload-behind
        scheduled = case.value(at.scheduled)
        late, unsent = case.value(at.late) or 0, case.value(at.unsent) or 0
        everywhere = (late + unsent) * 100 > (scheduled or 0) * MOST_LATE_PERCENT
        if not scheduled or not (everywhere or _in_a_part(case, phase, at)):
            continue
        if signs(case, phase, at):
            # More sessions would only load a saturated driver further.
            who, advice = "driver", "Reduce --rate"
        else:
            who, advice = "target", "Add users or reduce --rate"
        evidence = (at.scheduled.name, at.late.name, at.unsent.name)
        when = ""
        if not everywhere:
            worst = case.value(at.late_worst_percent) or 0.0
            at_s = case.value(at.late_worst_at_s) or 0.0
            when = f" by {worst:.3g} % {at_s:.0f} s into the window"
            evidence = (*evidence, at.late_worst_percent.name)
        yield Ruling(
            "warning",
            f"{phase.title}: the {who} fell behind the rate{when}: of {scheduled:,.0f} "
            f"transactions due{case.span(at)}, {late:,.0f} found no free session and "
            f"{unsent:,.0f} were never sent. Response times include the wait. {advice}.",
            phase.name,
            evidence,
        )


def _storage(case: Case) -> Iterable[Ruling]:
    """One ruling for all loads of a storage profile; it names the worst."""
    shares: dict[metrics.StorageLoad, float] = {}
    first: dict[metrics.StorageLoad, Step] = {}
    for load, of_it in windows(case.steps).items():
        # A search exceeds the sustainable rate by design; only its result counts.
        searched = any(step.purpose in _SEARCHED for step in of_it)
        if of_it[0].load.rate is None or (searched and not case.is_best(of_it[0])):
            continue
        late = sum(step.late for step in of_it)
        due = sum(step.issued + (step.row["unissued"] or 0) for step in of_it)
        if late * 100 > due * MOST_LATE_PERCENT:
            shares[load], first[load] = 100 * late / due, of_it[0]
    if not shares:
        return
    worst = max(shares, key=lambda load: shares[load])
    step, phase = first[worst], case.phase_of(first[worst])
    more = f" Other loads affected: {len(shares) - 1}." if len(shares) > 1 else ""
    yield Ruling(
        "warning",
        f"Storage fell behind the rate: {step.label}: {shares[worst]:.3g} % of the I/Os due were "
        f"issued late or never, because the queue depth was exhausted.{more} Response times "
        "include the wait. Reduce the rate or increase the queue depth.",
        None if phase is None else phase.name,
        tuple(load.late_percent.name for load in shares),
    )


_SEARCHED = frozenset({"grow", "narrow"})


def _in_a_part(case: Case, phase: Phase[OltpDetail], at: metrics.Level) -> bool:
    """Whether a variable rate was too high in part of the window."""
    rate = recorded(phase.detail.rate_per_s)
    worst = case.value(at.late_worst_percent) or 0
    return rate is not None and rate.changes and worst > MOST_LATE_PERCENT


RULE = Rule(
    code="rate-not-sustained",
    weight=Weight.DOUBTFUL,
    definition=(
        f"In an open loop, more than {MOST_LATE_PERCENT:g} % of the transactions or I/Os were sent "
        "late or never. With a variable rate the rule also applies to each twentieth of the "
        "window (at least five intervals)."
    ),
    explanation="Above saturation, latency only measures how long the overload lasted.",
    check=_check,
)
