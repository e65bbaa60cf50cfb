"""Exponents of growth, and when it is called linear."""

from __future__ import annotations

import numpy as np
import pytest

from dyno.statistics.scaling import exponent, growth

LEVELS = [0.05, 0.1, 0.2, 0.4]


def table(rng: np.random.Generator, power: float, noise: float, blocks: int = 5) -> np.ndarray:
    line = power * np.log(LEVELS)
    return line + rng.normal(0, 0.3, (blocks, 1)) + rng.normal(0, noise, (blocks, len(LEVELS)))


@pytest.mark.parametrize(
    ("power", "noise", "said"),
    [
        (1.0, 0.01, "linear"),
        (1.01, 0.002, "linear"),  # certainly not 1, and near enough
        (1.0, 0.2, "inconclusive"),
        (0.8, 0.02, "less"),
        (1.3, 0.02, "more"),
    ],
)
def test_growth_is_tested(power: float, noise: float, said: str) -> None:
    found = exponent(LEVELS, table(np.random.default_rng(1), power, noise))
    assert growth(found) == said
    assert found.low <= power <= found.high


def test_what_bends_is_not_called_linear() -> None:
    rng = np.random.default_rng(2)
    bend = np.array([0.0, 0.1, 0.1, 0.0])
    found = exponent(LEVELS, table(rng, 1.0, 0.003) + bend)
    assert found.bent
    assert growth(found) == "inconclusive"
    assert found.first == pytest.approx(1 + 0.1 / np.log(2), abs=0.02)
    assert found.last == pytest.approx(1 - 0.1 / np.log(2), abs=0.02)


def test_many_questions_take_more() -> None:
    found = exponent(LEVELS, table(np.random.default_rng(1), 0.8, 0.02))
    assert growth(found, 0.2) == "inconclusive"


@pytest.mark.long
def test_intervals_hold_what_they_promise_though_blocks_bend() -> None:
    """Each block has a slope of its own: runs are not independent, blocks are."""
    rng = np.random.default_rng(3)
    x = np.log(LEVELS)
    covered = 0
    for _ in range(1000):
        own = rng.normal(0, 0.05, (5, 1)) * (x - x.mean())
        found = exponent(LEVELS, table(rng, 1.0, 0.01) + own)
        covered += found.low <= 1 <= found.high
    assert 0.93 <= covered / 1000 <= 0.97
