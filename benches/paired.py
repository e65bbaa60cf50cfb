"""Small costs seen through noise: the sides take turns statement by statement.

The machine's speed drifts by more than what is sought, but little from one statement to the next.
So every statement is run by all sides one after another, in an order that rotates, and only
differences of one turn are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import trim_mean

T = TypeVar("T")
Times = NDArray[np.float64]
"""Seconds by block and round."""

OUTER = 0.2
"""Share left out at either end: what a neighbour on the machine did to single turns."""

RESAMPLES = 2000


@dataclass(frozen=True)
class Side(Generic[T]):
    """One way to do the same work.

    Attributes:
        run: Does a block of it.
        cpu: Seconds on a processor so far, of what the block costs.
    """

    label: str
    run: Callable[[T], object]
    cpu: Callable[[], float]


@dataclass(frozen=True)
class Seen:
    """Wall and CPU seconds of one side."""

    wall: Times
    cpu: Times


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"

    def times(self, factor: float) -> Interval:
        """In another unit."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)


def alternate(sides: Sequence[Side[T]], blocks: Sequence[T], rounds: int) -> list[Seen]:
    """Runs every block by every side, after one round that does not count."""
    seen = [Seen(*(np.zeros((len(blocks), rounds)) for _ in range(2))) for _ in sides]
    for number in range(-1, rounds):
        for place, block in enumerate(blocks):
            for turn in range(len(sides)):
                index = (turn + place + number) % len(sides)
                side = sides[index]
                before, start = side.cpu(), time.perf_counter()
                side.run(block)
                wall, cpu = time.perf_counter() - start, side.cpu() - before
                if number >= 0:
                    seen[index].wall[place, number] = wall
                    seen[index].cpu[place, number] = cpu
    return seen


def total(times: Times) -> float:
    """Of all blocks the mean over the rounds, without the outer fifths."""
    return float(trim_mean(times, OUTER, axis=-1).sum(axis=0))


def more(base: Times, other: Times) -> Interval:
    """What ``other`` takes more for all blocks than ``base``, as :func:`total` of the differences.

    The interval is the percentile bootstrap's over rounds.
    """
    differences = other - base
    rounds = differences.shape[1]
    drawn = np.random.default_rng(1).integers(0, rounds, (RESAMPLES, rounds))
    totals = trim_mean(differences[:, drawn], OUTER, axis=-1).sum(axis=0)
    low, high = np.percentile(totals, [2.5, 97.5])
    return Interval(total(differences), float(low), float(high))
