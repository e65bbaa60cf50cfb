"""The rate of an open loop: transactions that start per second, over the measured time."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dyno.config.units import digits

MOST_PER_S = 1e8
"""The driver's maximum."""

_MOST_IN_WORDS = 5


@dataclass(frozen=True)
class Rate:
    """A rate over the measured time.

    Attributes:
        name: Part of a level's name; unique among the levels of a run.
        points: Seconds from the start of the measurement, and starts per second at that time.
            Linear in between; two points at the same time are a jump. The first rate also holds
            before its time, warm-up included; the last one holds after its time.
    """

    name: str
    points: tuple[tuple[float, float], ...]

    @classmethod
    def constant(cls, per_s: float) -> Rate:
        """A constant rate."""
        return cls(f"rate-{per_s:g}", ((0.0, per_s),))

    @classmethod
    def ramp(cls, first: float, last: float, seconds: float) -> Rate:
        """A linear ramp over ``seconds``."""
        return cls(f"ramp-{first:g}-{last:g}", ((0.0, first), (seconds, last)))

    @classmethod
    def steps(cls, rates: Sequence[float], seconds: float) -> Rate:
        """One rate after the other, each for an equal part of ``seconds``."""
        part = seconds / len(rates)
        held = [(place * part, rate) for place, rate in enumerate(rates)]
        return cls(f"steps-{'-'.join(f'{rate:g}' for rate in rates)}", hold(held))

    @property
    def changes(self) -> bool:
        """Whether the rate changes over time."""
        return len({rate for _, rate in self.points}) > 1

    @property
    def title(self) -> str:
        """``500/s``, ``100, 200, 400/s``, ``100 to 1,000/s``."""
        rates = [rate for _, rate in self.points]
        if not self.changes:
            return f"{rates[0]:g}/s"
        low, high = digits(min(rates)), digits(max(rates))
        if not self._stepped:
            if len(rates) == 2:
                low, high = digits(rates[0]), digits(rates[1])
                return f"{low} to {high}/s"
            return f"{low} to {high}/s in {len(rates)} points"
        steps = [rate for place, rate in enumerate(rates) if place == 0 or rate != rates[place - 1]]
        if len(steps) <= _MOST_IN_WORDS:
            return f"{', '.join(map(digits, steps))}/s"
        return f"{low} to {high}/s in {len(steps)} steps"

    def due(self, start_s: float, end_s: float) -> float:
        """Starts due between two times of the measurement: the integral of the rate."""
        return self._due_by(end_s) - self._due_by(start_s)

    def _due_by(self, at_s: float) -> float:
        """Starts due from the first point until ``at_s``; negative before it."""
        place = bisect.bisect_right(self.points, at_s, key=lambda point: point[0]) - 1
        if place < 0:
            return (at_s - self.points[0][0]) * self.points[0][1]
        (since_s, rate), due = self.points[place], self._sums[place]
        if place + 1 == len(self.points):
            return due + (at_s - since_s) * rate
        until_s, after = self.points[place + 1]
        if until_s <= since_s:  # only in a foreign bundle
            return due
        here = rate + (after - rate) * (at_s - since_s) / (until_s - since_s)
        return due + (at_s - since_s) * (rate + here) / 2

    @cached_property
    def _sums(self) -> list[float]:
        """Starts due by each point."""
        pairs = itertools.pairwise(self.points)
        parts = [(b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairs]
        return [0.0, *itertools.accumulate(parts)]

    @property
    def _stepped(self) -> bool:
        """Whether it changes only by jumps."""
        pairs = itertools.pairwise(self.points)
        return all(a[0] == b[0] or a[1] == b[1] for a, b in pairs)

    def share(self, count: int) -> Rate:
        """The rate divided by ``count``, under the same name."""
        return Rate(self.name, tuple((at, rate / count) for at, rate in self.points))

    def plan(self) -> float | list[list[float]]:
        """The form for the driver and the bundle: a number, or the points."""
        if not self.changes:
            return self.points[0][1]
        return [list(point) for point in self.points]


def hold(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Turns steps into points: each rate holds until the next one."""
    held: list[tuple[float, float]] = []
    for at, rate in points:
        if held:
            held.append((at, held[-1][1]))
        held.append((at, rate))
    return tuple(held)


def recorded(stored: float | Sequence[tuple[float, float]] | None) -> Rate | None:
    """The rate of a level in a bundle; None for a closed loop or an invalid value."""
    if stored is None:
        return None
    if isinstance(stored, int | float):
        return Rate.constant(float(stored)) if _is_rate(stored) else None
    if not stored or not all(_is_rate(value) for point in stored for value in point):
        return None
    return Rate("recorded", tuple((float(at), float(rate)) for at, rate in stored))


def _is_rate(value: float) -> bool:
    return math.isfinite(value) and 0 <= value <= MOST_PER_S
