"""The law of scalability: planted curves are found, and intervals hold what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import least_squares

from dyno.statistics.usl import Usl, curve, fit, means

LEVELS = [1, 2, 4, 8, 16, 32]


@settings(deadline=None)
@given(st.floats(1e-3, 1e6), st.floats(0, 0.9), st.floats(0, 0.1))
def test_a_planted_curve_is_found(gamma: float, sigma: float, kappa: float) -> None:
    true = Usl(gamma, sigma, kappa)
    found = fit(LEVELS, [math.log(true.at(n)) for n in LEVELS])
    assert found.gamma == pytest.approx(gamma, rel=1e-4)
    assert found.sigma == pytest.approx(sigma, abs=1e-3)
    assert found.kappa == pytest.approx(kappa, abs=1e-4)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_no_other_curve_is_nearer(noise: list[float]) -> None:
    """As near as scipy's general method, which begins where this one ended and elsewhere."""
    logs = [math.log(Usl(100, 0.1, 0.001).at(n)) + e for n, e in zip(LEVELS, noise, strict=True)]

    def misses(theta: np.ndarray) -> np.ndarray:
        one = Usl(math.exp(theta[0]), theta[1], theta[2])
        return np.array([math.log(one.at(n)) - y for n, y in zip(LEVELS, logs, strict=True)])

    found = fit(LEVELS, logs)
    assert 0 <= found.sigma <= 1
    assert found.kappa >= 0
    own = float((misses(np.array([math.log(found.gamma), found.sigma, found.kappa])) ** 2).sum())
    for start in ([math.log(found.gamma), min(found.sigma, 0.999), found.kappa], [4.6, 0.1, 0.01]):
        other = least_squares(
            misses, np.maximum(start, [-50, 1e-9, 1e-9]), bounds=([-50, 0, 0], [50, 1, 50])
        )
        assert own <= 2 * other.cost * (1 + 1e-3) + 1e-9


def test_draws_of_means_are_as_students_interval_says() -> None:
    table = np.random.default_rng(1).normal(size=(5, 3))
    drawn = means(table, 40_000, 2) @ np.array([1.0, -2.0, 0.5])
    values = table @ np.array([1.0, -2.0, 0.5])
    wanted = stats.t.interval(0.95, 4, loc=values.mean(), scale=stats.sem(values))
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(wanted, rel=0.05)


@pytest.mark.long
def test_intervals_hold_what_they_promise() -> None:
    rng = np.random.default_rng(4)
    true = Usl(100, 0.05, 0.005)
    logs = np.log([true.at(n) for n in LEVELS])
    names = ("gamma", "sigma", "kappa", "peak")
    covered = dict.fromkeys(names, 0)
    for _ in range(100):
        table = logs + rng.normal(0, 0.05, (5, 1)) + rng.normal(0, 0.03, (5, 6))
        found = curve(LEVELS, table, draws=199)
        for name in names:
            low, high = found.intervals[name]
            covered[name] += low <= getattr(true, name) <= high
    assert all(count >= 88 for count in covered.values()), covered


def test_where_there_is_no_peak_none_is_bounded() -> None:
    rng = np.random.default_rng(5)
    logs = np.log([Usl(100, 0.05, 0).at(n) for n in LEVELS])
    found = curve(LEVELS, logs + rng.normal(0, 0.03, (5, 6)))
    assert found.intervals["kappa"][0] == 0
    assert math.isinf(found.intervals["peak"][1])
    assert curve(LEVELS, np.stack([logs] * 3)) == curve(LEVELS, np.stack([logs] * 3))
    with pytest.raises(ValueError, match="3 blocks and 4 levels"):
        curve(LEVELS[:3], np.zeros((5, 3)))
