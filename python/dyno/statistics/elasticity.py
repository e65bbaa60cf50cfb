"""Elasticity: relative change of an output by relative change of a resource."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dyno.statistics.paired import location

CONFIRMED, CONTRIBUTORY = 0.5, 0.2
_CONFIDENCE = 0.97
"""Of each of two looks at the same pairs, 95 % together (Pocock 1977, Biometrika 64)."""


@dataclass(frozen=True)
class Elasticity:
    """The pseudo-median over pairs of windows, with its interval of 97 %."""

    centre: float
    low: float
    high: float


def elasticity(
    pairs: Sequence[tuple[float, float]], larger: float, smaller: float
) -> Elasticity | None:
    """The elasticity from pairs of outputs.

    It is the location of the pairs' elasticities (``paired.location``), as one stall of a device
    would move their mean by more than the resource does.

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
    if len(pairs) < 2:
        return None
    found = location(np.array([math.log(one / other) / step for one, other in pairs]), _CONFIDENCE)
    return Elasticity(found.centre, found.low, found.high)


def strength(centre: float, low: float) -> Literal["confirmed", "contributory", "unattributed"]:
    """The conclusion on a resource; none from an interval that includes zero."""
    if low <= 0 or centre < CONTRIBUTORY:
        return "unattributed"
    return "confirmed" if centre >= CONFIRMED else "contributory"


def undecided(found: Elasticity) -> bool:
    """Whether more pairs may change the conclusion."""
    return found.low <= 0 and found.high >= CONTRIBUTORY
