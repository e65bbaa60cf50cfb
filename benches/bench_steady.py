"""What the rules on a steady rate say of storage whose course is planted.

Targets: of noise whose neighbours are alike, as a quiet virtual disk has it (spread 3 to 8 %,
correlation 0.3 to 0.7), 1 % of steps at most are called a fall, and 1 % spoil a run at all. A fall
of 30 % that stays is found 95 times of 100 among a spread of 5 %, and one of 15 % passed over in
silence 5 times of 100 at most among one of 3 %. What drifts is no fall.

Of each kind of course, in percent of the steps: *fall*, one of 20 % or more; *small*, one of 10 to
20 %; *drift*, a line or a warm-up that spoils the run; *told*, a warning of another kind; *note*,
that a window does not give its mean to 10 %.

    python benches/bench_steady.py [STEPS]
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from scipy.signal import lfilter

from dyno.decide.validity import throttled_storage as throttled
from dyno.decide.validity import unsteady_storage as unsteady
from dyno.statistics.autocorrelation import mean_error_percent, trend_among_alike
from dyno.statistics.change import drop
from dyno.statistics.steady import bias_percent, mser5

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 500
LENGTHS = (15, 20, 50, 100)
"""Intervals of steps of 1.5 s, 2 s, 5 s and 10 s."""

Values = np.ndarray[Any, Any]
Course = Callable[[np.random.Generator, int], Values]


def alike(spread: float, phi: float, heavy: bool = False) -> Course:
    """AR(1) round 1, with Student's t of 3 degrees or the normal distribution."""

    def make(rng: np.random.Generator, count: int) -> Values:
        size = count + 60
        drawn = rng.standard_t(3, size) / math.sqrt(3) if heavy else rng.normal(0, 1, size)
        made = lfilter([1.0], [1.0, -phi], drawn * spread * math.sqrt(1 - phi**2))
        return 1 + np.asarray(made)[60:]

    return make


def stepped(noise: Course, percent: float) -> Course:
    def make(rng: np.random.Generator, count: int) -> Values:
        aside = max(5, math.ceil(0.15 * count))
        at = rng.integers(aside, count - aside + 1)
        return noise(rng, count) * np.where(np.arange(count) < at, 1, 1 - percent / 100)

    return make


def shaped(noise: Course, shape: Callable[[Values], Values]) -> Course:
    """A noise times a shape over the share of the step that has gone by."""
    return lambda rng, count: noise(rng, count) * shape((np.arange(count) + 0.5) / count)


def bursts(rng: np.random.Generator, count: int) -> Values:
    """Every tenth interval on the average is held back by half, and makes up for it in the next."""
    values = alike(0.05, 0.5)(rng, count)
    held = np.where(rng.random(count) < 0.1, 0.5, 0.0)
    return values - held + np.concatenate([[0.0], held[:-1]])


def dips(rng: np.random.Generator, count: int) -> Values:
    """Two of every eight intervals have half of the rate."""
    place = np.arange(count) + rng.integers(8)
    return alike(0.05, 0.5)(rng, count) * np.where(place % 8 < 2, 0.5, 1)


def verdict(values: list[float]) -> str:
    """What the rules say of a step that a metric rests on, but for what stands still."""
    fall = drop(values)
    if fall is not None:
        return "fall" if fall.percent >= throttled.LEAST_DROP_PERCENT else "small"
    cut = mser5(values)
    if (
        cut is not None
        and cut.discard_percent > unsteady.MOST_DISCARD_PERCENT
        and bias_percent(values, cut) > unsteady.MOST_BIAS_PERCENT
    ):
        return "drift"
    line = trend_among_alike(values)
    if line is not None:
        size, least = abs(line.percent), line.low if line.percent > 0 else -line.high
        if size > unsteady.MOST_TREND_PERCENT and least > unsteady.WARNING_TREND_PERCENT:
            return "drift"
        if size > unsteady.WARNING_TREND_PERCENT and least > 0:
            return "told"
    error = mean_error_percent(values)
    if error is None or error <= unsteady.MOST_ERROR_PERCENT:
        return ""
    return "told" if error > unsteady.WARNING_ERROR_PERCENT else "note"


QUIET = alike(0.05, 0.5)
COURSES: dict[str, Course] = {
    **{
        f"noise {100 * spread:.0f} %, alike {phi:g}": alike(spread, phi)
        for spread in (0.03, 0.05, 0.08, 0.15, 0.3)
        for phi in (0.0, 0.3, 0.5, 0.7, 0.85)
    },
    "heavy tails 5 %, alike 0.5": alike(0.05, 0.5, heavy=True),
    "heavy tails 15 %, alike 0.5": alike(0.15, 0.5, heavy=True),
    "held back and made up for": bursts,
    "dips of half, 2 of 8": dips,
    "line, 1 to 0.9": shaped(QUIET, lambda at: 1 - 0.1 * at),
    "line, 1 to 0.7": shaped(QUIET, lambda at: 1 - 0.3 * at),
    "line, 1 to 0.5": shaped(QUIET, lambda at: 1 - 0.5 * at),
    "decay, 1 to 0.5": shaped(QUIET, lambda at: 0.5 + 0.5 * np.exp(-3 * at)),
    "rise, 0.5 to 1": shaped(QUIET, lambda at: 1 - 0.5 * np.exp(-5 * at)),
    "wave of 10 %": shaped(QUIET, lambda at: 1 + 0.1 * np.sin(2 * np.pi * at)),
    **{
        f"fall of {percent} %, {100 * spread:.0f} %, alike {phi:g}": stepped(
            alike(spread, phi), percent
        )
        for percent in (10, 15, 20, 22, 30, 50)
        for spread, phi in ((0.03, 0.3), (0.05, 0.0), (0.05, 0.5), (0.05, 0.7), (0.08, 0.5))
    },
}


def line(name: str) -> str:
    cells: list[str] = []
    for count in LENGTHS:
        rng = np.random.default_rng([list(COURSES).index(name), count])
        said = Counter(
            verdict(np.maximum(COURSES[name](rng, count), 0).tolist()) for _ in range(COUNT)
        )
        shares = (100 * said[word] / COUNT for word in ("fall", "small", "drift", "told", "note"))
        cells.append(" ".join(f"{share:5.1f}" for share in shares))
    return f"{name:32}" + " |".join(cells)


def main() -> None:
    errors = (
        f"{100 * math.sqrt(p * (1 - p) / COUNT):.1f} at {100 * p:.0f} %" for p in (0.01, 0.05)
    )
    print(f"{COUNT} steps a cell: a standard error of {', '.join(errors)}\n")
    print(" " * 32 + " |".join(f"{f'{count} intervals':^29}" for count in LENGTHS))
    print(" " * 32 + " |".join(" fall small drift  told  note" for _ in LENGTHS))
    with ProcessPoolExecutor() as pool:
        for text in pool.map(line, COURSES):
            print(text, flush=True)


if __name__ == "__main__":
    main()
