"""Scales: what is taken, and what is refused with a reason."""

from __future__ import annotations

import math

import pytest

from dyno import workloads
from dyno.errors import UsageError
from dyno.model import NOTICES


@pytest.mark.parametrize(
    ("workload", "scale"),
    [("tpch", 0.001), ("tpch", 0.35), ("tpch", 10_000), ("tpcc", 1), ("tpcc", 100_000)],
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


def test_half_a_warehouse() -> None:
    with pytest.raises(UsageError, match=r"must be a whole number, not 2\.5"):
        workloads.get("tpcc").parse_scale(2.5)


@pytest.mark.parametrize("name", workloads.names())
def test_every_workload_carries_its_notice(name: str) -> None:
    workload = workloads.get(name)
    assert workload.name == name
    assert workload.notice == NOTICES[name]
    assert len({index.name for index in workload.indexes}) == len(workload.indexes)
