"""Fits of series whose neighbours are alike, against what they were made of."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from dyno.statistics.autocorrelation import (
    fit,
    likeness,
    mean_error_percent,
    trend_among_alike,
)
from tests.analyse.noise import alike


@pytest.mark.parametrize("phi", [0.3, 0.6])
def test_the_likeness_of_neighbours(phi: float) -> None:
    rng = np.random.default_rng(1)
    series = [alike(rng, 40, 0.1, phi) for _ in range(300)]
    found = [likeness([one - one.mean()], 1) for one in series]
    assert float(np.mean(found)) == pytest.approx(phi, abs=0.03)
    assert likeness([np.zeros(9)], 1) == 0
    assert likeness([np.array([1.0, -1.0] * 9)], 1) == 0


@pytest.mark.parametrize("phi", [0.0, 0.7])
def test_a_fit_is_that_of_general_least_squares(phi: float) -> None:
    places = np.array([0, 1, 2, 3, 7, 8, 9, 10, 11])  # with a gap
    values = np.array([9.0, 8, 9, 7, 5, 6, 4, 5, 5])
    after = places >= 5
    noise = phi ** np.abs(places[:, None] - places[None, :]) if phi else np.eye(9)
    whole = sm.GLS(values, sm.add_constant(after.astype(float)), sigma=noise).fit()
    assert fit(values, places, after, phi) == pytest.approx((whole.params[1], whole.bse[1]))


@pytest.mark.parametrize("phi", [0.0, 0.5])
def test_intervals_hold_the_truth(phi: float) -> None:
    rng = np.random.default_rng(2)
    line = 1.1 - 0.2 * np.arange(50) / 49
    slopes = means = 0
    for _ in range(300):
        noise = alike(rng, 50, 0.05, phi)
        trend, error = trend_among_alike((line + noise - 1).tolist()), mean_error_percent(noise)
        assert trend is not None and error is not None
        slopes += trend.low <= -20 <= trend.high
        means += abs(1 / noise.mean() - 1) * 100 <= error
    assert 270 <= slopes <= 297
    assert 270 <= means <= 300


def test_what_has_no_noise_or_no_rate() -> None:
    falls = trend_among_alike([float(10 - place) for place in range(10)])
    assert falls is not None
    assert (falls.percent, falls.low, falls.high) == pytest.approx((-900 / 5.5,) * 3)
    assert trend_among_alike([0.0] * 9) is None
    assert trend_among_alike([1.0] * 4) is None
    assert mean_error_percent([5.0] * 9) == 0
    assert mean_error_percent([0.0] * 9) is None
    assert mean_error_percent([1.0] * 4) is None
