"""Unjudged: the window was too short to tell whether throughput had settled."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.config.rates import recorded
from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for phase, at in case.levels():
        rate = recorded(phase.detail.rate_per_s)
        if rate is not None and rate.changes and case.value(at.tps):
            yield Ruling(
                "warning",
                f"{phase.title}: throughput follows a rate that changes and cannot settle; the "
                "figures are of the whole window. Levels of a constant --rate each can be judged.",
                phase.name,
                (at.tps.name,),
            )
    short = [
        (phase, at)
        for phase, at in case.levels()
        if phase.status == "done"
        and case.value(at.tps)
        and case.value(at.judged_window_s) is not None
        and case.value(at.mser_discard_percent) is None
    ]
    if not short:
        return
    phase, at = short[0]
    least = case.value(at.judged_window_s) or 0.0
    others = f" and {len(short) - 1} more" if len(short) > 1 else ""
    yield Ruling(
        "warning",
        f"{phase.title}{others}: whether throughput had settled could not be judged, which takes a "
        f"window of {least:.0f} s. A run with --duration {least:.0f}s or more tells.",
        phase.name,
        tuple(at.judged_window_s.name for _, at in short),
    )


RULE = Rule(
    code="unjudged",
    weight=Weight.DOUBTFUL,
    definition=(
        "The window has fewer than the ten batches of five intervals that MSER-5 needs, or the "
        "rate of an open loop changes in it."
    ),
    explanation="Nothing then tells a mean of steady work from one of a warm-up.",
    check=_check,
)
