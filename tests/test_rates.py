"""A rate over time: how many starts are due between two times."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.config.rates import Rate, hold

POINTS = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 1000)),
    min_size=1,
    max_size=8,
    unique_by=lambda p: p[0],
).map(lambda points: tuple(sorted(points)))


def at(rate: Rate, second: float) -> float:
    """The rate at a second: held before the first point and after the last, lines between."""
    points = rate.points
    if second <= points[0][0]:
        return points[0][1]
    for (a, low), (b, high) in itertools.pairwise(points):
        if second <= b:
            return low + (high - low) * (second - a) / (b - a)
    return points[-1][1]


@given(POINTS, st.floats(-10, 120), st.floats(0, 50))
def test_what_is_due_is_the_integral(
    points: tuple[tuple[float, float], ...], start: float, length: float
) -> None:
    rate, steps = Rate("x", points), 1000
    width = length / steps
    middles = (start + (step + 0.5) * width for step in range(steps))
    expected = sum(at(rate, middle) for middle in middles) * width
    # A step in the rate may lie anywhere in one of the parts.
    assert rate.due(start, start + length) == pytest.approx(expected, abs=1e-6 + 8000 * width)


def test_steps_and_gaps() -> None:
    rate = Rate("x", hold([(0, 100), (10, 0), (20, 50)]))
    assert rate.due(0, 10) == 1000
    assert rate.due(10, 20) == 0
    assert rate.due(5, 25) == 750
    assert rate.due(30, 31) == 50
    assert Rate.constant(7).due(3, 5) == 14
    assert Rate.ramp(0, 100, 10).due(0, 10) == 500
