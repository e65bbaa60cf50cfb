"""Unsteady: throughput drifted during the window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dyno.bundle import metrics
from dyno.decide.case import Case
from dyno.decide.quiet import was_quiet
from dyno.decide.rule import Rule, Ruling, Weight

WARNING_TREND_PERCENT = 10.0
MOST_TREND_PERCENT = 30.0
MOST_DISCARD_PERCENT = 50.0
MOST_BIAS_PERCENT = 10.0


@dataclass(frozen=True)
class Drift:
    """How a level's throughput drifted."""

    level: Literal["invalid", "warning"]
    words: str
    evidence: str


def drift(case: Case, at: metrics.Level) -> Drift | None:
    """Evidence that throughput drifted in a level; None if it was steady."""
    discard = case.value(at.mser_discard_percent)
    bias = case.value(at.mser_bias_percent)
    # MSER-5 may truncate pure noise heavily, but that does not move the mean.
    if (discard or 0.0) > MOST_DISCARD_PERCENT and (bias or 0.0) > MOST_BIAS_PERCENT:
        words = f"throughput never settled: MSER-5 truncates {discard:.0f} % of the window"
        return Drift("invalid", words, at.mser_discard_percent.name)
    trend = case.estimate(at.trend_percent)
    if trend is None or trend.low is None or trend.high is None:
        return None
    # A slope whose interval includes zero is not significant.
    if trend.low <= 0 <= trend.high or abs(trend.value) <= WARNING_TREND_PERCENT:
        return None
    word = "rose" if trend.value > 0 else "fell"
    return Drift(
        "invalid" if abs(trend.value) > MOST_TREND_PERCENT else "warning",
        f"throughput {word} by {abs(trend.value):.0f} % of its mean within the window "
        f"(95 % interval {trend.low:+.0f} to {trend.high:+.0f} %)",
        trend.name,
    )


_LONGER = "Increase --warmup and --duration."
_QUIETER = "The machine was not quiet: run again when it is."


def _check(case: Case) -> Iterable[Ruling]:
    """Drift on a quiet machine is invalid; on a machine that was not quiet, disturbed."""
    for phase, at in case.levels():
        quiet = was_quiet(case, phase)
        spoils: Literal["invalid", "disturbed"] = "invalid" if quiet else "disturbed"
        extended = phase.detail.until_steady
        if extended is not None and extended.settled is False:
            limit = extended.limit_s
            yield Ruling(
                spoils,
                f"{phase.title}: throughput was not steady after {limit:g} s. Increase "
                "--until-steady, or find the cause of the drift."
                if limit is not None
                else f"{phase.title}: throughput was not steady at the time limit.",
                phase.name,
                (at.trend_percent.name,),
            )
            continue
        seen = drift(case, at)
        if seen is not None:
            yield Ruling(
                spoils if seen.level == "invalid" else seen.level,
                f"{phase.title}: {seen.words}. {_LONGER if quiet else _QUIETER}",
                phase.name,
                (seen.evidence,),
            )


RULE = Rule(
    code="unsteady",
    weight=Weight.DOUBTFUL,
    definition=(
        f"Throughput trended by more than {MOST_TREND_PERCENT:g} % over the window, and the 95 % "
        f"interval excludes zero; or MSER-5 truncates more than {MOST_DISCARD_PERCENT:g} % of the "
        f"window, which shifts the mean by more than {MOST_BIAS_PERCENT:g} %; or --until-steady "
        f"reached its time limit. Warning: a trend above {WARNING_TREND_PERCENT:g} %."
    ),
    explanation=(
        "The mean of a drifting series depends on when the window starts. On a quiet machine the "
        "run is invalid. With CPU steal or background load, a possible cause, it is disturbed."
    ),
    check=_check,
)
