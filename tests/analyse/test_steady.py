from __future__ import annotations

import random

import pytest

from dyno.analyse.steady import mser5, trend, variation_percent


def noise(count: int, mean: float = 100.0, seed: int = 1) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(mean, 2.0) for _ in range(count)]


def test_mser_leaves_a_steady_series_nearly_whole() -> None:
    found = mser5(noise(200))
    assert found is not None
    assert found.batches == 40
    assert found.discard_percent <= 30


def test_mser_cuts_a_warm_up_where_it_ends() -> None:
    # 30 s of rise from 0 to 100, then 170 s of steady work.
    series = [100 * second / 30 for second in range(30)] + noise(170)
    found = mser5(series)
    assert found is not None
    assert 5 <= found.cut <= 8


def test_mser_by_hand() -> None:
    # Batch means 10, 0, 0 … 0 (10 batches): cutting the first leaves no variance at all.
    found = mser5([10.0] * 5 + [0.0] * 45)
    assert found is not None
    assert (found.batches, found.cut, found.discard_percent) == (10, 1, 10.0)


def test_mser_rejects_a_series_that_settles_too_late() -> None:
    series = [float(second) * 10 for second in range(120)] + noise(80, 1200.0)
    found = mser5(series)
    assert found is not None
    assert found.discard_percent > 50


def test_mser_never_cuts_into_the_last_five_batches() -> None:
    found = mser5([float(second) for second in range(100)])
    assert found is not None
    assert found.cut <= found.batches - 5


@pytest.mark.parametrize("count", [0, 1, 15, 49])
def test_mser_says_nothing_of_short_series(count: int) -> None:
    assert mser5(noise(count)) is None


def test_a_trend_is_its_share_of_the_mean() -> None:
    line = trend([90.0, 95.0, 100.0, 105.0, 110.0])
    assert line is not None
    assert line.percent == pytest.approx(20.0)
    assert line.low == pytest.approx(20.0)
    assert line.high == pytest.approx(20.0)


def test_the_interval_of_a_trend_covers_none_in_noise() -> None:
    covered = 0
    for seed in range(200):
        line = trend(noise(15, seed=seed))
        assert line is not None
        covered += line.low <= 0 <= line.high
    assert covered == pytest.approx(190, abs=10)


def test_degenerate_series() -> None:
    assert trend([1.0, 2.0]) is None
    assert trend([0.0] * 20) is None
    flat = trend([5.0] * 20)
    assert flat is not None
    assert (flat.percent, flat.low, flat.high) == (0.0, 0.0, 0.0)
    assert variation_percent([3.0]) is None
    assert variation_percent([0.0, 0.0]) is None
    assert variation_percent([90.0, 100.0, 110.0]) == pytest.approx(10.0)
