"""The search for the most load inside limits: what to try next. Pure: trials in, a step out.

Geometric growth until a load fails, then the geometric middle of the largest load that passes and
the smallest that fails, until they are within the resolution; the largest that passes must pass a
second window. A load fails if any of its windows does. A window that was not steady proves nothing:
it is measured again, longer, and what never settles is taken as it is. Of a curve that is not
monotone the answer is the conservative one: no load that was tried below it fails.
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
"""A load at which so many windows were not steady is taken as they are, all passing or not."""


@dataclass(frozen=True)
class Range:
    """Where to search.

    Attributes:
        start: The first load.
        most: The largest that may be tried.
        resolution: The largest gap to leave between what passes and what fails, as a share.
    """

    by: By
    start: float
    most: float
    resolution: float = RESOLUTION

    @property
    def least(self) -> float:
        """The smallest load worth a try: a user, or a small part of the first rate."""
        return 1.0 if self.by == "users" else self.start / GROWTH[self.by] ** _FLOOR_SHRINKS

    def grown(self, load: float) -> float:
        """The next larger load while none has failed."""
        return min(self.most, self.rounded(load * GROWTH[self.by]))

    def shrunk(self, load: float) -> float:
        """The next smaller load while none has passed."""
        if self.by == "users":
            return max(1.0, float(math.floor(load / GROWTH[self.by])))
        return max(self.least, self.rounded(load / GROWTH[self.by]))

    def is_close(self, passing: float, failing: float) -> bool:
        """Whether nothing is left between the two."""
        if self.by == "users" and failing - passing <= 1:
            return True
        return failing <= passing * (1 + self.resolution) * (1 + 1e-9)

    def between(self, passing: float, failing: float) -> float:
        """Their geometric middle."""
        middle = math.sqrt(passing * failing)
        if self.by == "users":
            return float(min(max(round(middle), passing + 1), failing - 1))
        rounded = self.rounded(middle)
        return rounded if passing < rounded < failing else middle

    def rounded(self, load: float) -> float:
        """Whole users; rates of three digits."""
        if self.by == "users":
            return float(max(1, round(load)))
        return float(f"{load:.3g}")

    def most_windows(self) -> int:
        """How many windows a search takes that meets no surprise, at most."""
        growth = GROWTH[self.by]
        grow = 1 + math.ceil(max(0.0, math.log(self.most / self.start, growth)) - 1e-9)
        narrow = math.ceil(math.log2(math.log(growth) / math.log1p(self.resolution)))
        return grow + narrow + 1


@dataclass(frozen=True)
class Trial:
    """A window at a load.

    Attributes:
        passed: Whether every limit was kept.
        steady: False if its throughput had not settled; such a window proves nothing.
    """

    load: float
    passed: bool
    steady: bool = True


@dataclass(frozen=True)
class Step:
    """What to try next."""

    kind: Kind
    load: float


@dataclass(frozen=True)
class Found:
    """What the trials tell.

    Attributes:
        best: The largest load that passes with none failing below it; None if there is none.
        failing: The smallest that fails; None if none does.
        confirmed: Whether two steady windows of ``best`` passed, or all those that never settled.
        unsettled: Whether ``failing`` only never settled: no steady window of it failed.
        monotone: False if a load above one that fails passes.
    """

    best: float | None
    failing: float | None
    confirmed: bool
    unsettled: bool
    monotone: bool


def found(trials: Sequence[Trial]) -> Found:
    """What is known after these trials, in whatever order."""
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
    """The next window, or None if the search is over.

    Args:
        trials: All so far, in their order.
        where: Where to search.
        windows_left: How many more there is time for; the last one goes to the confirmation.
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
    """How many windows at a load were not steady."""
    return sum(trial.load == load and not trial.steady for trial in trials)


def _loads(trials: Sequence[Trial]) -> list[float]:
    return list(dict.fromkeys(trial.load for trial in trials))


def _is_confirmed(trials: Sequence[Trial], load: float) -> bool:
    steady = sum(trial.load == load and trial.steady for trial in trials)
    return steady >= 2 or unsteady(trials, load) >= MOST_UNSTEADY


def _verdict(trials: Sequence[Trial], load: float) -> bool | None:
    """Whether a load passes; None while none of its windows had settled."""
    own = [trial for trial in trials if trial.load == load]
    settled = [trial for trial in own if trial.steady]
    if any(not trial.passed for trial in settled):
        return False
    if len(own) - len(settled) >= MOST_UNSTEADY:
        return all(trial.passed for trial in own)
    return True if settled else None
