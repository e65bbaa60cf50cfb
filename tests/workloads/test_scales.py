"""Scales: what is taken, and what is refused with a reason."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dyno import _core, workloads
from dyno.errors import UsageError
from dyno.workloads.tpch.scales import SMALLEST, is_good, nearest_good


@pytest.mark.parametrize(
    ("workload", "scale"),
    [
        ("tpch", 0.0031),
        ("tpch", 0.01),
        ("tpch", 0.35),
        ("tpch", 10_000),
        ("tpcc", 1),
        ("tpcc", 100_000),
    ],
)
def test_good_scales(workload: str, scale: float) -> None:
    assert workloads.get(workload).parse_scale(scale) == scale


@pytest.mark.parametrize("workload", ["tpch", "tpcc"])
@pytest.mark.parametrize("scale", [0, -1, 1e-9, 1e9, math.nan, math.inf, -math.inf])
def test_absurd_scales(workload: str, scale: float) -> None:
    with pytest.raises(UsageError) as refused:
        workloads.get(workload).parse_scale(scale)
    assert "must be" in str(refused.value)
    assert "\n" not in str(refused.value)


def suppliers_of(part: int, scale: float) -> set[int]:
    """The four suppliers of a part, by the formula of the specification (4.2.3)."""
    count = int(10_000 * scale)
    return {(part + i * (count // 4 + (part - 1) // count)) % count + 1 for i in range(4)}


@given(st.one_of(st.integers(10, 2400).map(lambda n: n / 10_000), st.floats(0.001, 0.05)))
@example(0.005)
@example(0.015)
@example(0.02401)  # as many suppliers as 0.024, which is good, but two parts more
def test_scales_are_taken_where_each_part_has_four_suppliers(scale: float) -> None:
    whole = all(len(suppliers_of(part, scale)) == 4 for part in range(1, int(200_000 * scale) + 1))
    assert is_good(scale) == whole
    assert all(map(is_good, nearest_good(scale)))
    if whole and scale >= SMALLEST:
        assert workloads.get("tpch").parse_scale(scale) == scale
    else:
        with pytest.raises(UsageError):
            workloads.get("tpch").parse_scale(scale)


@given(st.integers(1000, 50_000))
def test_larger_scales_need_no_look(count: int) -> None:
    first, last = count // 4, count // 4 + 20
    assert all(i * stride % count for stride in range(first, last + 1) for i in (1, 2, 3))


def test_a_scale_without_keys_names_the_nearest_with() -> None:
    with pytest.raises(UsageError, match=r"Use 0\.0049 or 0\.0053\."):
        workloads.get("tpch").parse_scale(0.005)
    (smallest,) = nearest_good(0.001)
    assert smallest == SMALLEST
    # What the generator writes there, by its own word, has no key twice.
    keys: list[tuple[int, int]] = []
    stream = _core.arrow_stream("tpch", "partsupp", SMALLEST, 1, 1, _core.Control())
    for batch in pa.RecordBatchReader.from_stream(stream):
        keys += zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
    assert len(set(keys)) == len(keys) > 0


def test_half_a_warehouse() -> None:
    with pytest.raises(UsageError, match=r"must be a whole number, not 2\.5"):
        workloads.get("tpcc").parse_scale(2.5)


@pytest.mark.parametrize("name", workloads.names())
def test_every_workload_carries_its_notice(name: str) -> None:
    workload = workloads.get(name)
    assert workload.name == name
    derived = {"brokerage": "TPC-E", "tpch": "TPC-H", "tpcc": "TPC-C"}.get(name)
    words = f"Derived from {derived}; not comparable with published TPC results."
    if derived is None:
        words = "Derived from TPC-C, TPC-H and CH-benCHmark; not comparable with published results."
    assert workload.notice == words
    assert len({index.name for index in workload.indexes}) == len(workload.indexes)
