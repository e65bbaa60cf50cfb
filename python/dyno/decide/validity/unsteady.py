"""Unsteady: throughput still rose or fell while it was measured."""

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
    """How a level's throughput was not steady."""

    level: Literal["invalid", "warning"]
    words: str
    evidence: str


def drift(case: Case, at: metrics.Level) -> Drift | None:
    """What speaks against the steadiness of a level."""
    discard = case.value(at.mser_discard_percent)
    bias = case.value(at.mser_bias_percent)
    # Noise alone has MSER-5 leave out much now and then, but that moves no mean.
    if (discard or 0.0) > MOST_DISCARD_PERCENT and (bias or 0.0) > MOST_BIAS_PERCENT:
        words = f"throughput never settled, {discard:.0f} % of the window looks like a warm-up"
        return Drift("invalid", words, at.mser_discard_percent.name)
    trend = case.estimate(at.trend_percent)
    if trend is None or trend.low is None or trend.high is None:
        return None
    # A slope that may as well be none proves nothing, however steep it looks.
    if trend.low <= 0 <= trend.high or abs(trend.value) <= WARNING_TREND_PERCENT:
        return None
    word = "rose" if trend.value > 0 else "fell"
    return Drift(
        "invalid" if abs(trend.value) > MOST_TREND_PERCENT else "warning",
        f"throughput {word} by {abs(trend.value):.0f} % of its mean within the window "
        f"(95 % interval {trend.low:+.0f} to {trend.high:+.0f} %)",
        trend.name,
    )


_LONGER = "Give a longer --warmup and --duration."
_QUIETER = "The machine was not quiet meanwhile: run again when it is."


def _check(case: Case) -> Iterable[Ruling]:
    """What a machine that was not quiet did to throughput is not the server's warm-up."""
    for phase, at in case.levels():
        quiet = was_quiet(case, phase)
        spoils: Literal["invalid", "disturbed"] = "invalid" if quiet else "disturbed"
        extended = phase.detail.until_steady
        if extended is not None and extended.settled is False:
            limit = extended.limit_s
            yield Ruling(
                spoils,
                f"{phase.title}: throughput had not settled at the limit of {limit:g} s. Give a "
                "longer --until-steady, or find what keeps it moving."
                if limit is not None
                else f"{phase.title}: throughput had not settled at the limit.",
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
        "The trend of throughput over the window, if its 95 % interval excludes none, exceeds "
        f"{MOST_TREND_PERCENT:g} % (above {WARNING_TREND_PERCENT:g} %: a warning), or MSER-5 would "
        f"leave out more than {MOST_DISCARD_PERCENT:g} % of it, which moves the mean by more than "
        f"{MOST_BIAS_PERCENT:g} %; or a level that was to go on until it is steady reached its "
        "limit before."
    ),
    explanation=(
        "The mean of a rise or fall depends on where the window happened to lie. It is wrong for "
        "steady work on a quiet machine, too, so the run is invalid; it is only disturbed where "
        "CPU steal or other work may be the reason."
    ),
    check=_check,
)
