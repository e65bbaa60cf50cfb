from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dyno.statistics.steady import (
    bias_percent,
    half_width,
    mser5,
    settled,
    trend,
    variation_percent,
)


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


def test_noise_that_looks_like_a_warm_up_moves_no_mean() -> None:
    series = [noise(100, seed=seed) for seed in range(100)]
    cuts = [mser5(values) for values in series]
    assert all(cut is not None for cut in cuts)
    far = [
        (v, cut) for v, cut in zip(series, cuts, strict=True) if cut and cut.discard_percent > 50
    ]
    assert len(far) > 3
    assert max(bias_percent(values, cut) for values, cut in far) < 2


def test_what_a_warm_up_does_to_the_mean() -> None:
    values = [10.0] * 50 + [20.0] * 50
    cut = mser5(values)
    assert cut is not None and cut.cut == 10
    assert bias_percent(values, cut) == pytest.approx(25)
    assert bias_percent([5.0] * 50 + [0.0] * 50, cut) == 100


def correlated(count: int, seed: int, phi: float = 0.5, mean: float = 100.0) -> list[float]:
    """AR(1), the usual test model of the literature: neighbours are alike."""
    draw, values, last = random.Random(seed), list[float](), 0.0
    for _ in range(count):
        last = phi * last + draw.gauss(0.0, 2.0)
        values.append(mean + last)
    return values


@pytest.mark.parametrize("batches", [1, 4, 10, 30])
@pytest.mark.parametrize("step", [-30.0, 30.0])
def test_mser_cuts_a_step_exactly_where_it_ends(batches: int, step: float) -> None:
    for seed in range(5):
        series = correlated(500, seed)
        biased = [value + step * (place < 5 * batches) for place, value in enumerate(series)]
        found = mser5(biased)
        assert found is not None
        assert batches <= found.cut <= batches + 6  # of noise it may leave out a little more


def test_mser_cuts_a_decay_where_it_sinks_into_the_noise() -> None:
    """A bias of 60·e^(−t/20) is as small as the noise, 2.3, after 65 values: 13 batches."""
    cuts: list[int] = []
    for seed in range(40):
        bias = [60 * 2.718281828 ** (-place / 20) for place in range(600)]
        found = mser5([a - b for a, b in zip(correlated(600, seed), bias, strict=True)])
        assert found is not None
        cuts.append(found.cut)
    assert 10 <= sorted(cuts)[20] <= 18


def test_mser_makes_the_bias_of_a_mean_smaller() -> None:
    """What White, Cobb and Spratt (2000) judge such rules by, over many replications."""
    raw, cut = 0.0, 0.0
    for seed in range(60):
        bias = [40 * 2.718281828 ** (-place / 25) for place in range(400)]
        series = [a - b for a, b in zip(correlated(400, seed), bias, strict=True)]
        found = mser5(series)
        assert found is not None
        rest = series[found.cut * 5 :]
        raw += (sum(series) / len(series) - 100) / 60
        cut += (sum(rest) / len(rest) - 100) / 60
    assert raw == pytest.approx(-2.5, abs=0.3)
    assert abs(cut) < 0.3


def test_mser_of_a_series_without_a_warm_up_seldom_rejects_it() -> None:
    found = [mser5(correlated(300, seed)) for seed in range(100)]
    shares = sorted(one.discard_percent for one in found if one is not None)
    assert len(shares) == 100
    assert shares[50] <= 15
    assert sum(share > 50 for share in shares) <= 5


def test_a_slow_drift_is_seen_by_its_slope_where_mser_lets_it_pass() -> None:
    """The cross-check: MSER-5 looks for a change of level at the beginning only."""
    passed = 0
    for seed in range(20):
        values = correlated(60, seed, phi=0.2)
        series = [value * (1 + 0.16 * (place / 59 - 0.5)) for place, value in enumerate(values)]
        line, found = trend(series), mser5(series)
        assert line is not None and found is not None
        assert line.low > 0
        assert line.percent == pytest.approx(16, abs=5)
        assert settled(series, 50) is None
        passed += found.discard_percent <= 50
    assert passed > 0


def test_the_interval_of_a_mean_holds_it_also_where_neighbours_are_alike() -> None:
    """Batch means: of 200 series nearly 95 % must; without batches it would be far fewer."""
    held, naive = 0, 0
    for seed in range(200):
        series = correlated(400, seed, phi=0.6)
        half, mean = half_width(series), sum(series) / len(series)
        spread = variation_percent(series)
        assert half is not None and spread is not None
        held += abs(mean - 100) <= half
        naive += abs(mean - 100) <= 1.96 * spread / 100 * mean / len(series) ** 0.5
    assert 180 <= held <= 198
    assert naive < held - 20
    assert half_width([1.0] * 9) is None
    assert half_width([5.0] * 15) == 0


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


@pytest.mark.parametrize("count", [5, 6, 40])
def test_a_trend_and_an_interval_are_those_of_another_implementation(count: int) -> None:
    values = noise(count)
    line = stats.linregress(range(count), values)
    half = stats.t.ppf(0.975, count - 2) * line.stderr
    share = 100 * (count - 1) / (sum(values) / count)
    found = trend(values)
    assert found is not None
    expected = [(line.slope + sign * half) * share for sign in (0, -1, 1)]
    assert [found.percent, found.low, found.high] == pytest.approx(expected)
    means = [sum(values[at : at + 4]) / 4 for at in range(0, 40, 4)]
    if count == 40:
        assert half_width(values) == pytest.approx(stats.t.ppf(0.975, 9) * stats.sem(means))


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


@given(st.integers(0, 60), st.integers(50, 200), st.integers(1, 120), st.integers(0, 50))
def test_a_steady_stretch_lies_at_the_end_and_is_long_enough(
    rise: int, steady: int, least: int, seed: int
) -> None:
    series = [100 * second / max(rise, 1) for second in range(rise)] + noise(steady, seed=seed)
    start = settled(series, least)
    if start is not None:
        rest = series[start:]
        assert len(rest) >= max(least, 50)
        line = trend(rest)
        assert line is not None
        assert abs(line.percent) <= 10 or line.low <= 0 <= line.high


def test_a_warm_up_is_left_out_once_enough_has_followed() -> None:
    rise = [100 * second / 40 for second in range(40)]
    assert settled(rise, 50) is None
    assert settled(rise + noise(30), 50) is None
    start = settled(rise + noise(120), 60)
    assert start is not None
    assert 30 <= start <= 50


@pytest.mark.parametrize("slope", [-3.0, 3.0])
def test_what_keeps_rising_or_falling_never_settles(slope: float) -> None:
    series = [1000 + slope * second for second in range(300)]
    assert all(settled(series[:count], 50) is None for count in range(0, 301, 10))


def test_nothing_at_all_never_settles() -> None:
    assert settled([], 1) is None
    assert settled([0.0] * 200, 50) is None
