"""Falls by a step are distinguished from slopes, noise and rises."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from dyno.statistics.change import drop
from tests.analyse.noise import alike


def noisy(levels: Sequence[float], share: float, seed: int = 1) -> list[float]:
    """Levels with a normal noise of so much of each."""
    rng = random.Random(seed)
    return [level * rng.gauss(1, share) for level in levels]


@pytest.mark.parametrize("before", [8, 12, 40])
@pytest.mark.parametrize("share", [0.0, 0.02])
def test_a_fall_is_found_where_it_is(before: int, share: float) -> None:
    found = drop(noisy([1000.0] * before + [600.0] * 20, share))
    assert found is not None
    assert found.at == before
    assert found.percent == pytest.approx(40, abs=4)
    assert found.before == pytest.approx(1000, rel=0.05)


@pytest.mark.parametrize(
    "between", [[800.0], [0.0], [0.0, 150.0], [1900.0], [1400.0, 100.0]], ids=str
)
def test_what_lies_between_two_levels_hides_no_fall(between: list[float]) -> None:
    found = drop(noisy([1000.0] * 20, 0.02) + between + noisy([600.0] * 20, 0.02))
    assert found is not None
    assert found.at in range(20, 23)
    assert found.before == pytest.approx(1000, rel=0.03)
    assert found.after == pytest.approx(600, rel=0.03)


@pytest.mark.parametrize(
    "before",
    [
        [1000.0] * 9 + [960, 1030, 0, 2000] + [1000.0] * 3 + [80, 1920] + [1000.0] * 2,
        [1000.0, 640, 1360, 720, 360, 1920] + [1000.0] * 6
        + [640, 1360, 240, 1760, 1000, 640, 1360, 800],
    ],
    ids=["few", "many"],
)  # fmt: skip
def test_a_fall_is_found_among_moments_of_standstill(before: list[float]) -> None:
    # What was held back for an interval comes with the next, as on a machine with other work.
    found = drop([*before, 200, *[500.0] * 19])
    assert found is not None
    assert found.at == 20
    assert (found.before, found.after) == (pytest.approx(1000, rel=0.05), 500)


@pytest.mark.parametrize(
    "values",
    [
        [1000.0] * 30,
        [0.0] * 30,
        noisy([1000.0] * 60, 0.2),
        [1000.0 - 20 * place for place in range(30)],
        [1000.0] * 15 + [910.0] * 15,
        [600.0] * 15 + [1000.0] * 15,
        [1000.0] * 4 + [500.0] * 5,
        # The level after it is none.
        [1000.0] * 15 + [700.0 - 25 * place for place in range(15)],
    ],
    ids=["level", "nothing", "noise", "slope", "small", "rise", "short", "still falling"],
)
def test_what_is_no_fall(values: list[float]) -> None:
    assert drop(values) is None


def test_a_stop_is_a_fall() -> None:
    found = drop([1000.0] * 10 + [0.0] * 10)
    assert found is not None
    assert found.percent == 100


def test_a_small_fall_is_one_too() -> None:
    found = drop(noisy([1000.0] * 10 + [860.0] * 10, 0.02))
    assert found is not None
    assert found.percent == pytest.approx(14, abs=2)


def test_a_fall_that_takes_its_time_is_no_step() -> None:
    # Of a virtual disk with 15 intervals: two levels, but half a second from one to the other.
    steps = [85.9, 83.3, 86.7, 86.7, 85.8, 87.6, 80.8, 77.4, 72.3, 70.6, 66.3, 67.2, 64.6, 61.3, 68]
    assert drop(steps) is None


@pytest.mark.parametrize("count", [15, 20, 50])
@pytest.mark.parametrize(("spread", "phi"), [(0.15, 0.0), (0.08, 0.5), (0.3, 0.6)])
def test_noise_is_seldom_taken_for_a_fall(count: int, spread: float, phi: float) -> None:
    rng = np.random.default_rng(count)
    series = (alike(rng, count, spread, phi).tolist() for _ in range(300))
    assert sum(drop(values) is not None for values in series) <= 6


@pytest.mark.parametrize(("count", "phi"), [(15, 0.5), (20, 0.7), (50, 0.5)])
def test_a_fall_by_a_third_is_found_among_noise(count: int, phi: float) -> None:
    rng = np.random.default_rng(count)
    found = 0
    for _ in range(200):
        at = rng.integers(max(5, 0.15 * count), count - max(5, 0.15 * count), endpoint=True)
        level = np.where(np.arange(count) < at, 1, 0.7)
        found += drop((level * alike(rng, count, 0.05, phi)).tolist()) is not None
    assert found >= 185
