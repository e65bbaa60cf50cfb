from __future__ import annotations

import math
import random

import pytest
from hdrh.histogram import HdrHistogram

from dyno.bundle.histograms import Latencies
from dyno.errors import UsageError
from tests.bundle_rows import histogram


def encoded(values: list[int]) -> str:
    latencies = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values:
        latencies.record_value(value)
    return latencies.encode().decode()


def test_quantiles_are_ranks_of_all_latencies_to_three_digits() -> None:
    draw = random.Random(3)
    values = [int(draw.lognormvariate(15, 1)) for _ in range(5000)]
    merged = Latencies()
    for start in range(0, 5000, 500):
        merged.add(encoded(values[start : start + 500]))
    values.sort()
    assert merged.count == 5000
    for quantile in (0.001, 0.5, 0.95, 0.99, 0.999, 1.0):
        exact = values[max(1, math.ceil(quantile * 5000)) - 1] / 1e6
        assert merged.quantile_ms(quantile) == pytest.approx(exact, rel=1.1e-3)
    assert merged.max_ms == pytest.approx(values[-1] / 1e6, rel=1.1e-3)
    assert merged.mean_ms == pytest.approx(sum(values) / 5000 / 1e6, rel=1e-3)


def test_percentiles_are_not_averaged() -> None:
    # 99 fast seconds and a slow one: the mean of their medians would be 1.99 ms.
    merged = Latencies()
    for _ in range(99):
        merged.add(encoded([1_000_000] * 10))
    merged.add(encoded([100_000_000] * 10))
    assert merged.quantile_ms(0.5) == pytest.approx(1.0, rel=1e-3)
    assert merged.quantile_ms(0.995) == pytest.approx(100.0, rel=1e-3)


def test_empty_is_zero() -> None:
    merged = Latencies()
    merged.add(None)
    merged.add("")
    merged.add(encoded([]))
    assert (merged.count, merged.quantile_ms(0.5), merged.max_ms, merged.mean_ms) == (0, 0, 0, 0)


def test_other_ranges_merge_too() -> None:
    small = HdrHistogram(1, 1_000_000, 2)
    small.record_value(5_000, 3)
    merged = Latencies()
    merged.add(small.encode().decode())
    assert merged.count == 3
    assert merged.quantile_ms(0.5) == pytest.approx(0.005, rel=0.02)


def test_a_distribution_is_stored_as_others_read_it() -> None:
    merged = Latencies()
    for text in (encoded([1, 5_000, 5_000]), encoded([3_600_000_000_000])):
        merged.add(text)
    read = HdrHistogram.decode(merged.encode())
    assert read.total_count == 4
    assert read.get_count_at_value(5_000) == 2
    assert Latencies().encode() == ""


@pytest.mark.parametrize(
    "text",
    ["x", "garbage", histogram(100, 2.0)[:60], "A" * 600_000, histogram(9, 1.0)[:-8] + "AAAAAAA="],
)
def test_damage_is_reported_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="damaged") as caught:
        Latencies().add(text)
    assert "\n" not in str(caught.value)
