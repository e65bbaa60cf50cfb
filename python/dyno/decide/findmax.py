"""The search for the maximum load within limits: the next load to try. Pure: trials in, step out.

Loads grow geometrically until one fails. Then bisection (geometric mean) narrows the gap between
the largest passing and the smallest failing load to the resolution. The maximum must pass a second
window. A load fails if any of its windows fails. A window is inconclusive if throughput was not
steady, or if a run with it would not be valid for another reason. It is repeated with a longer
duration, up to ``MOST_UNSTEADY`` times; then its result counts. On a non-monotone curve the maximum
is the largest load below which no tried load fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

By = Literal["users", "rate"]
Kind = Literal["grow", "shrink", "narrow", "repeat", "confirm"]

RESOLUTION = 0.05
GROWTH: dict[By, float] = {"users": 2.0, "rate": 4.0}
_FLOOR_SHRINKS = 8
MOST_UNSTEADY = 3
"""After this many inconclusive windows at a load, their results count."""


@dataclass(frozen=True)
class Range:
    """Where to search.

    Attributes:
        start: The first load.
        most: The largest load to try.
        resolution: Target gap between the passing and the failing load, as a fraction.
    """

    by: By
    start: float
    most: float
    resolution: float = RESOLUTION

    @property
    def least(self) -> float:
        """The smallest load to try: one user, or a small fraction of the first rate."""
        return 1.0 if self.by == "users" else self.start / GROWTH[self.by] ** _FLOOR_SHRINKS

    def grown(self, load: float) -> float:
        """The next larger load."""
        return min(self.most, self.rounded(load * GROWTH[self.by]))

    def shrunk(self, load: float) -> float:
        """The next smaller load."""
        if self.by == "users":
            return max(1.0, float(math.floor(load / GROWTH[self.by])))
        return max(self.least, self.rounded(load / GROWTH[self.by]))

    def is_close(self, passing: float, failing: float) -> bool:
        """Whether the gap is within the resolution."""
        if self.by == "users" and failing - passing <= 1:
            return True
        return failing <= passing * (1 + self.resolution) * (1 + 1e-9)

    def between(self, passing: float, failing: float) -> float:
        """Their geometric mean."""
        middle = math.sqrt(passing * failing)
        if self.by == "users":
            return float(min(max(round(middle), passing + 1), failing - 1))
        rounded = self.rounded(middle)
        return rounded if passing < rounded < failing else middle

    def rounded(self, load: float) -> float:
        """Rounds to whole users, or rates to three digits."""
        if self.by == "users":
            return float(max(1, round(load)))
        return float(f"{load:.3g}")

    def most_windows(self) -> int:
        """The most windows of a search without repeats."""
        growth = GROWTH[self.by]
        grow = 1 + math.ceil(max(0.0, math.log(self.most / self.start, growth)) - 1e-9)
        narrow = math.ceil(math.log2(math.log(growth) / math.log1p(self.resolution)))
        return grow + narrow + 1


@dataclass(frozen=True)
class Trial:
    """A window at a load.

    Attributes:
        passed: Whether every limit passed, and nothing else makes a run with it invalid.
        steady: False if the window is inconclusive.
    """

    load: float
    passed: bool
    steady: bool = True


@dataclass(frozen=True)
class Step:
    """The next window."""

    kind: Kind
    load: float


@dataclass(frozen=True)
class Found:
    """The state of the search.

    Attributes:
        best: The largest passing load below which none fails; None if there is none.
        failing: The smallest failing load; None if there is none.
        confirmed: Whether two conclusive windows at ``best`` passed, or ``MOST_UNSTEADY``
            inconclusive ones.
        unsettled: Whether ``failing`` failed in inconclusive windows only.
        monotone: False if a load above a failing one passes.
    """

    best: float | None
    failing: float | None
    confirmed: bool
    unsettled: bool
    monotone: bool


def found(trials: Sequence[Trial]) -> Found:
    """The state of the search after these trials, in any order."""
    passing = sorted(load for load in _loads(trials) if _verdict(trials, load) is True)
    failing = min(
        (load for load in _loads(trials) if _verdict(trials, load) is False), default=None
    )
    inside = [load for load in passing if failing is None or load < failing]
    best = inside[-1] if inside else None
    return Found(
        best,
        failing,
        best is not None and _is_confirmed(trials, best),
        failing is not None
        and not any(one.load == failing and one.steady and not one.passed for one in trials),
        len(inside) == len(passing),
    )


def next_step(trials: Sequence[Trial], where: Range, windows_left: int) -> Step | None:
    """The next window, or None when the search ends.

    Args:
        trials: All trials so far, in order.
        where: The range to search.
        windows_left: How many windows time allows; the last one confirms the maximum.
    """
    if windows_left < 1:
        return None
    if not trials:
        return Step("grow", where.start)
    known = found(trials)
    if known.best is not None and not known.confirmed and windows_left == 1:
        return Step("confirm", known.best)
    if _verdict(trials, trials[-1].load) is None:
        return Step("repeat", trials[-1].load)
    return _onward(known, where)


def _onward(known: Found, where: Range) -> Step | None:
    if known.best is None:
        smallest = known.failing if known.failing is not None else where.start
        return None if smallest <= where.least else Step("shrink", where.shrunk(smallest))
    if known.failing is None and known.best < where.most:
        return Step("grow", where.grown(known.best))
    if known.failing is not None and not where.is_close(known.best, known.failing):
        return Step("narrow", where.between(known.best, known.failing))
    return None if known.confirmed else Step("confirm", known.best)


def unsteady(trials: Sequence[Trial], load: float) -> int:
    """The number of inconclusive windows at a load."""
    return sum(trial.load == load and not trial.steady for trial in trials)


def _loads(trials: Sequence[Trial]) -> list[float]:
    return list(dict.fromkeys(trial.load for trial in trials))


def _is_confirmed(trials: Sequence[Trial], load: float) -> bool:
    steady = sum(trial.load == load and trial.steady for trial in trials)
    return steady >= 2 or unsteady(trials, load) >= MOST_UNSTEADY


def _verdict(trials: Sequence[Trial], load: float) -> bool | None:
    """Whether a load passes; None while all its windows were inconclusive."""
    own = [trial for trial in trials if trial.load == load]
    settled = [trial for trial in own if trial.steady]
    if any(not trial.passed for trial in settled):
        return False
    if len(own) - len(settled) >= MOST_UNSTEADY:
        return all(trial.passed for trial in own)
    return True if settled else None
