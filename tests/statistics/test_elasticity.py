"""Elasticity of a throughput to a resource, against powers whose exponent is known."""

from __future__ import annotations

import math

import pytest

from dyno.statistics.elasticity import elasticity, strength


@pytest.mark.parametrize("exponent", [0.0, 0.4, 1.0])
def test_the_exponent_of_a_power_is_found(exponent: float) -> None:
    noise = (1.01, 0.99, 1.02, 0.98)
    pairs = [(1.2**exponent * one, 0.8**exponent / one) for one in noise]
    found = elasticity(pairs, 1.2, 0.8)
    assert found is not None
    assert found.low < exponent < found.high
    assert found.mean == pytest.approx(exponent, abs=0.02)
    assert found.high - found.low < 0.4
    # By hand: the mean of the logarithms of the ratios by that of the sizes.
    ratios = [math.log(one / other) for one, other in pairs]
    assert found.mean == pytest.approx(sum(ratios) / 4 / math.log(1.5))


def test_too_little_gives_none() -> None:
    assert elasticity([(2.0, 1.0)], 1.2, 0.8) is None
    assert elasticity([(2.0, 1.0), (2.0, 0.0)], 1.2, 0.8) is None


def test_conclusions() -> None:
    assert strength(0.5, 0.1) == "confirmed"
    assert strength(0.49, 0.1) == "contributory"
    assert strength(0.19, 0.1) == "unattributed"
    assert strength(0.9, -0.1) == "unattributed"  # noise may be all of it
