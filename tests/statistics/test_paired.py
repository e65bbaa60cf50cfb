"""Shifts of pairs: known answers, and what a thousand simulated studies say."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dyno.statistics.paired import shift
from dyno.statistics.power import pairs_for, smallest_effect
from dyno.statistics.verdict import verdict

STUDIES = 1000


def test_few_pairs_are_students() -> None:
    first, second = [100.0, 102.0, 98.0, 101.0, 99.0], [110.0, 111.0, 109.0, 112.0, 107.0]
    found = shift(first, second)
    logs = np.log(np.array(second) / np.array(first))
    low, high = stats.t.interval(0.95, 4, loc=logs.mean(), scale=stats.sem(logs))
    assert found.method == "student"
    assert found.percent == pytest.approx(100 * math.expm1(logs.mean()))
    assert (found.low, found.high) == pytest.approx((100 * math.expm1(low), 100 * math.expm1(high)))
    assert found.p == pytest.approx(stats.ttest_1samp(logs, 0).pvalue)


def test_more_pairs_are_by_ranks() -> None:
    # Averages of two of 1..10 % are from 1 to 10; the 9th from each end bounds them (Hollander,
    # Wolfe & Chicken, Nonparametric Statistical Methods, table of the signed-rank statistic).
    logs = np.arange(1, 11) / 100
    found = shift([1.0] * 10, list(np.exp(logs)))
    assert found.method == "hodges-lehmann"
    i, j = np.triu_indices(10)
    averages = np.sort((logs[i] + logs[j]) / 2)
    assert found.percent == pytest.approx(100 * math.expm1(np.median(averages)))
    assert found.low == pytest.approx(100 * math.expm1(averages[8]))
    assert found.high == pytest.approx(100 * math.expm1(averages[-9]))
    assert found.confidence == pytest.approx(1 - 2 * 25 / 1024)


@pytest.mark.parametrize(("pairs", "questions"), [(8, 1), (8, 7), (8, 22), (12, 22), (12, 300)])
def test_a_large_shift_is_found_among_however_many_questions(pairs: int, questions: int) -> None:
    rng = np.random.default_rng(pairs)
    found = shift([1.0] * pairs, list(1.5 * np.exp(rng.normal(0, 0.03, pairs))), 0.95, questions)
    assert found.p * questions < 0.05
    ranks = questions * 4 * 2.0 ** (1 - pairs) <= 0.05
    assert found.method == ("hodges-lehmann" if ranks else "student")


@given(
    st.lists(st.tuples(st.floats(0.1, 1e6), st.floats(0.1, 1e6)), min_size=2, max_size=20),
    st.floats(0.01, 100),
)
def test_the_other_way_round_it_is_the_inverse(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    one, other = shift(first, second), shift(second, first)
    assert math.log1p(one.percent / 100) == pytest.approx(
        -math.log1p(other.percent / 100), rel=1e-6, abs=1e-9
    )
    assert one.low <= one.percent <= one.high
    assert one.p == pytest.approx(other.p, abs=1e-9)
    scaled = shift(first, [factor * b for b in second])
    assert 1 + scaled.percent / 100 == pytest.approx(factor * (1 + one.percent / 100))


@pytest.mark.parametrize(
    ("first", "second"), [([], []), ([1.0], []), ([0.0], [1.0]), ([1.0], [math.nan])]
)
def test_what_has_no_ratio(first: list[float], second: list[float]) -> None:
    with pytest.raises(ValueError, match=r"figures|as many"):
        shift(first, second)


NOISES: dict[str, Callable[[np.random.Generator, int], object]] = {
    "normal": lambda rng, n: rng.normal(0, 0.03, n),
    "heavy tails": lambda rng, n: 0.03 * rng.standard_t(3, n),
    "two modes": lambda rng, n: rng.normal(0, 0.01, n) + 0.1 * (rng.random(n) < 0.3),
    "skewed": lambda rng, n: rng.exponential(0.03, n),
}


@pytest.mark.parametrize("pairs", [5, 10])
@pytest.mark.parametrize("noise", NOISES)
def test_intervals_hold_what_they_promise(noise: str, pairs: int) -> None:
    """Of 1,000 studies 93 % and more cover the shift; 97 % is the most but for heavy tails."""
    rng = np.random.default_rng([pairs, *noise.encode()])
    covered = 0
    for _ in range(STUDIES):
        first = np.exp(np.asarray(NOISES[noise](rng, pairs)))
        second = 1.1 * np.exp(np.asarray(NOISES[noise](rng, pairs)))
        found = shift(list(first), list(second))
        covered += found.low <= 10 <= found.high
    assert 0.93 <= covered / STUDIES <= (0.97 if noise == "normal" else 0.995)


def test_what_is_promised_to_be_found_is() -> None:
    rng = np.random.default_rng(5)
    sd = 100 * math.expm1(0.03 * math.sqrt(2))
    effect = smallest_effect(sd, 6)
    found = 0
    for _ in range(STUDIES):
        first = np.exp(rng.normal(0, 0.03, 6))
        second = (1 + effect / 100) * np.exp(rng.normal(0, 0.03, 6))
        found += verdict(shift(list(first), list(second)), 0.5, "more") == "better"
    assert found / STUDIES == pytest.approx(0.8, abs=0.04)
    assert pairs_for(effect, sd) == 6
    assert pairs_for(10, sd) <= 5
    assert math.isinf(smallest_effect(sd, 1))
