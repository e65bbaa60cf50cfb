"""Elasticity: relative change of an output by relative change of a resource."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dyno.statistics.student import half_width

CONFIRMED, CONTRIBUTORY = 0.5, 0.2


@dataclass(frozen=True)
class Elasticity:
    """The mean over pairs of windows, with its 95 % interval."""

    mean: float
    low: float
    high: float


def elasticity(
    pairs: Sequence[tuple[float, float]], larger: float, smaller: float
) -> Elasticity | None:
    """The elasticity from pairs of outputs.

    Args:
        pairs: The output with the larger and with the smaller resource, of adjacent windows.
        larger: The larger size of the resource.
        smaller: The smaller size.

    Returns:
        None with fewer than two pairs, or an output of zero.
    """
    if any(not one > 0 for pair in pairs for one in pair):
        return None
    step = math.log(larger / smaller)
    found = [math.log(one / other) / step for one, other in pairs]
    half = half_width(found)
    if half is None:
        return None
    mean = sum(found) / len(found)
    return Elasticity(mean, mean - half, mean + half)


def strength(mean: float, low: float) -> Literal["confirmed", "contributory", "unattributed"]:
    """The conclusion on a resource; none from an interval that includes zero."""
    if low <= 0 or mean < CONTRIBUTORY:
        return "unattributed"
    return "confirmed" if mean >= CONFIRMED else "contributory"
