"""Steady state unknown: the window was too short to test throughput for steady state."""

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
                f"{phase.title}: the rate varies, so steady state was not tested. Results cover "
                "the whole window. Use levels of constant --rate to test it.",
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
        f"{phase.title}{others}: the window is too short to test throughput for steady state. Use "
        f"--duration {least:.0f}s or more.",
        phase.name,
        tuple(at.judged_window_s.name for _, at in short),
    )


RULE = Rule(
    code="steady-state-unknown",
    weight=Weight.DOUBTFUL,
    definition=(
        "The window has fewer than ten batches of five intervals, which MSER-5 needs, or the rate "
        "of an open loop varies. Always a warning."
    ),
    explanation="The mean may include a warm-up.",
    check=_check,
)
