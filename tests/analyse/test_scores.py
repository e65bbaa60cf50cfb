"""The formulas of the decision-support metrics, against values worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.analyse import scores


def test_power_of_equal_intervals_is_an_hour_over_one_of_them() -> None:
    # The 24th root of 2^24 is 2: 3600 · 10 / 2.
    assert scores.power(10, [2.0] * 22, [2.0, 2.0]) == pytest.approx(18_000)


def test_power_is_the_24th_root_with_the_refresh_functions() -> None:
    # 22 ones, and 16 · 256 = 2^12: the 24th root is the square root of 2.
    assert scores.power(1, [1.0] * 22, [16.0, 256.0]) == pytest.approx(3600 / 2**0.5)


def test_short_queries_are_raised_to_a_thousandth_of_the_longest() -> None:
    # 0.001 is raised to 2000 / 1000 = 2; the product is 2000 · 2 · 1.
    product = 2000.0 * 2.0**21
    value = scores.power(1, [2000.0] + [0.001] * 21, [1.0, 1.0])
    assert value == pytest.approx(3600 / product ** (1 / 24))
    assert scores.raised([1000.0, 1.0, 0.5]) == [1000.0, 1.0, 1.0]


def test_refresh_functions_are_not_raised() -> None:
    value = scores.power(1, [1000.0] * 22, [0.001, 0.001])
    assert value == pytest.approx(3600 / (1000.0**22 * 1e-6) ** (1 / 24))


def test_power_does_not_overflow() -> None:
    assert scores.power(1, [1e20] * 22, [1e20, 1e20]) == pytest.approx(3600 / 1e20)


def test_intervals_run_from_submission_to_submission() -> None:
    assert scores.query_intervals([0.0, 1.0, 4.0], 4.5) == [1.0, 3.0, 0.5]


def test_throughput_counts_every_query_of_every_stream() -> None:
    # 2 · 22 · 3600 · 1 / 100.
    assert scores.throughput(1, 2, 100.0) == pytest.approx(1584)
    assert scores.throughput(30, 4, 7200.0) == pytest.approx(1320)


def test_composite_is_the_geometric_mean() -> None:
    assert scores.composite(100.0, 400.0) == pytest.approx(200)


@given(st.lists(st.floats(1e-3, 1e3), min_size=22, max_size=22), st.floats(2, 100))
def test_twice_as_slow_is_half_the_power(intervals: list[float], factor: float) -> None:
    one = scores.power(1, intervals, [1.0, 2.0])
    slow = scores.power(1, [value * factor for value in intervals], [factor, 2 * factor])
    assert slow == pytest.approx(one / factor)
