"""Verdict on a shift: better, worse, different, equivalent, or undecided."""

from __future__ import annotations

from typing import Literal

from dyno.statistics.paired import CONFIDENCE, Shift

Verdict = Literal["better", "worse", "different", "equivalent", "inconclusive"]
Wish = Literal["more", "less", "neither"]


def verdict(
    shift: Shift,
    margin_percent: float,
    wish: Wish,
    p: float | None = None,
    floor_percent: float = 0.0,
) -> Verdict:
    """Judges the second variant.

    Better and worse, or different if neither direction is better, require an interval without zero
    and a p value below 5 % after adjustment for all questions. Equivalent requires an interval
    within the margin, even if it excludes zero: a significant difference that is too small to
    matter.

    Args:
        shift: The shift of a metric, in percent.
        margin_percent: The largest shift that does not matter.
        wish: Whether higher is better, as for throughput, or lower, as for time; neither for
            resource usage.
        p: The adjusted p value; None for the shift's own.
        floor_percent: A shift with an estimate up to this is none of them.
    """
    if -margin_percent <= shift.low and shift.high <= margin_percent:
        return "equivalent"
    found = shift.p if p is None else p
    if found > 1 - CONFIDENCE or shift.low <= 0 <= shift.high:
        return "inconclusive"
    if abs(shift.percent) <= floor_percent:
        return "inconclusive"
    if wish == "neither":
        return "different"
    return "better" if (shift.percent > 0) == (wish == "more") else "worse"
