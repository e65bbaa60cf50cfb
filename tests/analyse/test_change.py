"""Falls by a step are told from slopes, noise and rises."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from dyno.analyse.change import drop


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


def test_noise_is_seldom_taken_for_a_fall() -> None:
    series = (noisy([1000.0] * 20, 0.15, seed) for seed in range(500))
    assert sum(drop(values) is not None for values in series) <= 5
