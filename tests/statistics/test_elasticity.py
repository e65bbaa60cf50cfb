"""Elasticity of a throughput to a resource, against powers whose exponent is known."""

from __future__ import annotations

import math

import pytest

from dyno.statistics.elasticity import Elasticity, elasticity, strength, undecided


@pytest.mark.parametrize("exponent", [0.0, 0.4, 1.0])
def test_the_exponent_of_a_power_is_found(exponent: float) -> None:
    noise = (1.01, 0.99, 1.02, 0.98)
    pairs = [(1.2**exponent * one, 0.8**exponent / one) for one in noise]
    found = elasticity(pairs, 1.2, 0.8)
    assert found is not None
    assert found.low < exponent < found.high
    assert found.centre == pytest.approx(exponent, abs=0.02)
    assert found.high - found.low < 0.4
    # By hand: the noise is symmetrical, so the median of all averages of two is near their mean.
    ratios = [math.log(one / other) for one, other in pairs]
    assert found.centre == pytest.approx(sum(ratios) / 4 / math.log(1.5), abs=0.01)


def test_a_stall_in_one_window_does_not_hide_the_resource() -> None:
    pairs = [(1.2 * noise, 0.8 / noise) for noise in (1.0, 1.01, 1.02, 1.03, 0.99, 0.98) * 4]
    pairs[5] = (0.1, 0.8)
    found = elasticity(pairs, 1.2, 0.8)
    assert found is not None
    assert found.centre == pytest.approx(1.0, abs=0.05)
    assert 0.8 < found.low < 1.0 < found.high < 1.2


def test_too_little_gives_none() -> None:
    assert elasticity([(2.0, 1.0)], 1.2, 0.8) is None
    assert elasticity([(2.0, 1.0), (2.0, 0.0)], 1.2, 0.8) is None


def test_conclusions() -> None:
    assert strength(0.5, 0.1) == "confirmed"
    assert strength(0.49, 0.1) == "contributory"
    assert strength(0.19, 0.1) == "unattributed"
    assert strength(0.9, -0.1) == "unattributed"  # noise may be all of it


def test_more_pairs_are_asked_for_only_where_they_may_decide() -> None:
    assert undecided(Elasticity(0.7, -0.1, 1.3))
    assert not undecided(Elasticity(0.7, 0.1, 1.3))
    assert not undecided(Elasticity(0.0, -0.1, 0.1))  # more would not make it a bottleneck
