"""What a shift says: better, worse, different, equivalent, or nothing yet."""

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
    """How the second variant does.

    Better and worse, or different where neither more nor less is better, take an interval without
    zero, and a p value below 5 % once it was adjusted for all questions that were asked. Equivalent
    takes an interval inside the margin, also where it lies to one side of zero: a difference that
    is certain and too small to matter.

    Args:
        shift: Of a figure, in percent.
        margin_percent: The largest shift that does not matter.
        wish: Whether more of the figure is better, as of throughput, or less, as of time; neither
            of what a machine was busy with.
        p: The adjusted p value; None for the shift's own.
        floor_percent: A shift whose estimate is no larger is none of them.
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
