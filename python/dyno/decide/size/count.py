"""How many: n = max over resources of ⌈λ·D / (c·U·efficiency)⌉, per draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dyno.decide.size.lot import spread
from dyno.statistics.paired import Floats

_EXACT = 1e-9
"""A rounding error above a whole number does not add a server."""


@dataclass(frozen=True)
class Need:
    """What one resource needs, before rounding up: a number of servers or devices per draw.

    Attributes:
        step: They come in groups of so many: two for mirrors.
    """

    resource: str
    drawn: Floats
    step: int = 1

    @property
    def whole(self) -> Floats:
        """Whole groups that cover what is needed."""
        return self.step * rounded_up(self.drawn / self.step)


@dataclass(frozen=True)
class Part:
    """One resource of a count.

    Attributes:
        low, needed, high: What is needed before rounding up: median and 90 % interval.
        count: The median of the rounded number.
    """

    resource: str
    low: float
    needed: float
    high: float
    count: int


@dataclass(frozen=True)
class Count:
    """A number of servers or devices.

    Attributes:
        p50: The median.
        low, high: The 90 % interval.
        recommended: The number that is enough in 95 of 100 draws.
        binding: The resource that needs most.
        runner_up: The next one; empty if there is none.
        parts: All resources, the binding one first.
    """

    p50: int
    low: int
    high: int
    recommended: int
    binding: str
    runner_up: str
    parts: tuple[Part, ...]


def rounded_up(needed: Floats) -> Floats:
    """Whole numbers that are at least 1 and cover what is needed."""
    return np.maximum(1.0, np.ceil(needed * (1 - _EXACT)))


def need(resource: str, demand: Floats, capacity: Floats | float) -> Need:
    """A resource's need: λ·D / (c·U·efficiency)."""
    return Need(resource, np.asarray(demand / capacity, float))


def count(needs: Sequence[Need]) -> Count | None:
    """The number that covers all needs; None without any.

    A need that no number covers (infinite) is for the caller to refuse.
    """
    if not needs:
        return None
    whole = np.max([one.whole for one in needs], axis=0)
    parts: list[Part] = []
    for one in needs:
        of_it = spread(one.drawn)
        median = spread(one.whole).mid
        parts.append(Part(one.resource, *of_it, int(min(median, 1e15))))
    parts.sort(key=lambda part: -part.needed)
    low, mid, high = (int(min(value, 1e15)) for value in spread(whole))
    names = [part.resource for part in parts]
    return Count(mid, low, high, high, names[0], names[1] if len(names) > 1 else "", tuple(parts))
