"""The published sums of a paper on sizing transactions on disk arrays, as Dyno computes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dyno.decide.size import raid
from dyno.decide.size.evidence import Evidence, Share
from dyno.decide.size.sizing import size
from dyno.decide.size.storage import at_fill
from dyno.decide.size.wants import Wants
from tests.decide.size.evidence import array, load

BY_FILL = {0.40: 5037.0, 0.62: 4278.0, 0.85: 4175.0}
ARRAYS = tuple(array(iops, fill=fill) for fill, iops in BY_FILL.items())
IO_PER_TX = 3287 / 1054
"""Four databases on one array: 1,054 transactions with 3,287 I/Os a second."""

BOUND = Share("oltp", 3287 / 4175, True, "run gap.mix_share_percent")
LOADS = (load(1054, 80, ios=IO_PER_TX, cpus=16.0),)


def devices(tps: float, **more: object) -> int:
    found = Evidence(loads=LOADS, storage=ARRAYS, shares=(BOUND,))
    wants = replace(Wants(tps=tps), **more)  # type: ignore[arg-type]
    sized = size(found, wants, draws=500).devices
    assert sized is not None
    assert sized.binding == "IOPS"
    return sized.p50


@pytest.mark.parametrize(
    ("planned", "iops"), [(0.30, 5037), (0.40, 5037), (0.5, 4278), (0.62, 4278), (0.7, 4175)]
)
def test_iops_are_those_of_the_fill_that_is_planned(planned: float, iops: float) -> None:
    assert [one.iops for one in at_fill(ARRAYS, planned)] == [iops]


def test_beyond_the_fullest_profile_there_is_none() -> None:
    assert [one.iops for one in at_fill(ARRAYS, 0.95)] == [4175]
    sized = size(Evidence(loads=LOADS, storage=ARRAYS), Wants(tps=10, fill=0.95), draws=100)
    assert any("85 % full" in text for text in sized.caveats)


def test_the_database_reaches_78_percent_of_the_profile() -> None:
    assert pytest.approx(0.787, abs=0.001) == 3287 / 4175
    sized = size(Evidence(loads=LOADS, storage=ARRAYS), Wants(tps=10), draws=100)
    share = next(one for one in sized.inputs if one.name == "share of the IOPS")
    assert share.value == 0.78
    assert share.source.startswith("assumption")


@pytest.mark.parametrize(("tps", "arrays"), [(1054 * 0.97, 1), (1054 * 1.06, 2), (2108 * 0.97, 2)])
def test_one_array_carries_1054_transactions(tps: float, arrays: int) -> None:
    assert devices(tps, share=3287 / 4175) == arrays


def test_the_measured_share_counts_only_where_storage_was_the_bottleneck() -> None:
    wants = Wants(tps=100)
    idle = replace(BOUND, bound=False, value=0.1)
    for shares, value in (((BOUND,), 3287 / 4175), ((idle,), 0.78), ((idle, BOUND), 3287 / 4175)):
        sized = size(Evidence(loads=LOADS, storage=ARRAYS, shares=shares), wants, draws=100)
        found = next(one for one in sized.inputs if one.name == "share of the IOPS")
        assert found.value == pytest.approx(value)


@pytest.mark.parametrize(("level", "theory"), [("50", 1.46), ("6", 1.92)])
def test_raid_10_against_parity_by_theory(level: str, theory: float) -> None:
    assert raid.theory("10", level, 0.7) == pytest.approx(theory, abs=0.005)


def test_theory_and_measurement_are_both_shown() -> None:
    measured = {"50": 1.41, "6": 1.48}
    profiles = (array(), *(array(4175 / by, raid=level) for level, by in measured.items()))
    sized = size(Evidence(loads=LOADS, storage=profiles), Wants(tps=100), draws=100)
    shown = {one.of: (round(one.theory, 2), round(one.measured or 0, 2)) for one in sized.raid}
    assert shown == {"50": (1.46, 1.41), "6": (1.92, 1.48)}


def test_a_measured_level_replaces_theory() -> None:
    profiles = (array(), array(2821, raid="6"))
    sized = size(Evidence(loads=LOADS, storage=profiles), Wants(tps=100, raid="6"), draws=100)
    found = next(one.value for one in sized.inputs if one.name == "IOPS of a device")
    assert found == pytest.approx(2821)
    assert not any("theory" in text for text in sized.caveats)


@pytest.mark.parametrize(
    ("level", "disks", "usable"),
    [("0", 5, 5), ("1", 2, 1), ("10", 8, 4), ("5", 5, 4), ("50", 8, 6), ("6", 6, 4), ("60", 10, 6)],
)
def test_usable_disks(level: str, disks: int, usable: float) -> None:
    assert raid.usable(disks, level) == usable
    assert raid.usable(raid.FEWEST[level] - 1, level) == 0
