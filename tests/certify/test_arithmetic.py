"""The arithmetic of certificates: the documents' own numbers, and properties."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.certificates.content import Volume
from dyno.certificates.quantity import rate, terabytes
from dyno.decide.certify.capacity import floored, maximum, rated, whole
from dyno.decide.certify.configuration import usable_bytes
from dyno.decide.certify.rates import measured_mbps, per_core, per_tb, relative

POSITIVE = st.floats(1e-6, 1e9)
SHARE = st.floats(0, 0.9)


def test_measured_throughput_is_the_mean_of_physical_and_logical() -> None:
    assert measured_mbps(11_356, 13_826) == 12_591


def test_mount_points_of_one_device_share_its_space() -> None:
    def volume(role: str, device: str, mount_point: str, size: int | None) -> Volume:
        return Volume(
            target="t", role=role, device=device, mount_point=mount_point, size_bytes=size
        )

    data, bound = volume("data", "sda2", "/var", 5), volume("partition-1", "sda2", "/home", 5)
    other, log = volume("partition-2", "sdb", "/b", 3), volume("log", "sdc", "/c", 9)
    assert usable_bytes([data, bound, other, log]) == 8
    shares = [volume("data", "", "/m", 2), volume("partition-1", "", "/n", 2)]
    assert usable_bytes(shares) == 4
    assert usable_bytes([data, volume("data", "sdd", "/d", None)]) is None


def test_relative_throughput_of_the_document() -> None:
    """Its certificate says 427 and 569; 468 and 3,696 queries/h/TB."""
    assert round(relative(468, 468 / 4.27)) == 427
    assert round(relative(3696, 3696 / 5.69)) == 569
    assert round(relative(468, 109.6)) == 427
    assert round(relative(3696, 649.6)) == 569


def test_rated_capacity_of_the_document() -> None:
    assert 25 * (4.27 + 5.69) / 2 == pytest.approx(124.5)
    assert rated(25, [427, 569], most=178.8) == 120


def test_maximum_capacity_of_the_document() -> None:
    """Eight devices of 5,960 GiB, a quarter for tempdb, compression 5:1."""
    found = maximum(8 * 5.96, 0.25, 0.0, 5.0)
    assert found == pytest.approx(178.8)
    assert whole(found) == 178


def test_rates_of_small_numbers() -> None:
    assert per_tb(936, 2.0) == 468
    assert per_core(1600, 8) == 200  # the classic rate of a core


@pytest.mark.parametrize(
    ("value", "floor"),
    [(124.5, 120), (120, 120), (119.999, 110), (10, 10), (9.99, 9.9), (0.3, 0.3), (0.0347, 0.034)],
)
def test_floor(value: float, floor: float) -> None:
    assert floored(value) == pytest.approx(floor)


@given(POSITIVE)
def test_a_floor_is_below_by_less_than_a_step(value: float) -> None:
    for floor, step in ((floored(value), 10.0), (whole(value), 1.0)):
        small = 10 ** (math.floor(math.log10(value)) - 1)
        assert floor <= value * (1 + 1e-6)
        assert value - floor <= (step if value >= 10 else small) * (1 + 1e-6)


@given(POSITIVE, st.lists(st.floats(0.1, 1e5), min_size=1, max_size=2), POSITIVE)
def test_rated_never_exceeds_the_maximum(
    reference: float, shares: list[float], most: float
) -> None:
    found = rated(reference, shares, most)
    assert found <= most * (1 + 1e-6)
    assert found <= reference * max(shares) / 100 * (1 + 1e-6)


@given(POSITIVE, SHARE, SHARE, st.floats(0.1, 20))
def test_maximum_grows_with_space_and_shrinks_with_reserves(
    usable: float, temp: float, free: float, ratio: float
) -> None:
    found = maximum(usable, temp, free, ratio)
    assert found <= usable * ratio * (1 + 1e-9)
    assert maximum(2 * usable, temp, free, ratio) == pytest.approx(2 * found)
    assert maximum(usable, temp, free / 2, ratio) >= found * (1 - 1e-9)


@given(POSITIVE, POSITIVE)
def test_the_mean_lies_between_both_rates(physical: float, logical: float) -> None:
    found = measured_mbps(physical, logical)
    assert min(physical, logical) * (1 - 1e-9) <= found <= max(physical, logical) * (1 + 1e-9)
    assert relative(physical, physical) == pytest.approx(100)


@given(st.floats(0.001, 1e6), st.sampled_from(["MB", "GB", "TB", "PB"]))
def test_a_quantity_needs_its_unit(value: float, unit: str) -> None:
    text = f"{value:.6f}"
    assert terabytes(f"{text} {unit}") > 0
    assert rate(f"{text} Q/h/TB") == pytest.approx(float(text))
    with pytest.raises(ValueError, match="unit is missing"):
        terabytes(text)
    with pytest.raises(ValueError, match="unit is missing"):
        rate(text)
    with pytest.raises(ValueError, match="units: Q/h/TB"):
        rate(f"{text} {unit}")
