"""Bounds of partitions: equal rows, beginnings of periods, and values that are common."""

from __future__ import annotations

import datetime as dt
import itertools
from bisect import bisect_left

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno.contracts.advice import ColumnFacts
from dyno.decide.advise.partition.bounds import UNEVEN, Bounds, bounds
from dyno.decide.advise.partition.spread import Spread, bound_of, even, number_of, of_column

START = dt.date(1992, 1, 2)


def sampled(values: list[int]) -> Spread:
    """The distribution of a sample."""
    column = ColumnFacts("x", "integer", histogram=tuple(map(str, sorted(values))))
    found = of_column(column)
    assert found is not None
    return found


def require(found: Bounds | None, count: int) -> Bounds:
    assert found is not None
    assert len(found.values) == count - 1
    assert len(found.shares) == count
    assert sum(found.shares) == pytest.approx(1.0)
    assert min(found.shares) > 0
    numbers = [float(value.toordinal()) if isinstance(value, dt.date) else value
               for value in found.values]  # fmt: skip
    assert all(low < high for low, high in itertools.pairwise(numbers))  # type: ignore[operator]
    return found


@settings(max_examples=30)
@given(
    st.lists(st.integers(-1000, 1000), min_size=200, max_size=400, unique=True),
    st.sampled_from([4, 8]),
)
def test_each_partition_has_its_part_of_the_rows(values: list[int], count: int) -> None:
    found = require(bounds("integer", sampled(values), count), count)
    values.sort()
    edges = [0, *(bisect_left(values, int(str(one))) for one in found.values), len(values)]
    rows = [high - low for low, high in itertools.pairwise(edges)]
    assert found.unit == "rows"
    assert max(abs(one - len(values) / count) for one in rows) <= 2
    assert [one / len(values) for one in rows] == pytest.approx(found.shares, abs=2 / len(values))


@settings(max_examples=30)
@given(
    st.dictionaries(st.integers(1, 12).map(str), st.integers(1, 100), min_size=4, max_size=12),
    st.sampled_from([4, 8]),
)
def test_common_values_are_never_cut(weights: dict[str, int], count: int) -> None:
    whole = sum(weights.values())
    common = {value: weight / whole for value, weight in weights.items()}
    spread = of_column(ColumnFacts("x", "integer", common=common))
    assert spread is not None
    found = bounds("integer", spread, count)
    if found is None:
        return
    require(found, count)
    edges = [-1, *(int(str(one)) for one in found.values), 99]
    for (low, high), share in zip(itertools.pairwise(edges), found.shares, strict=True):
        inside = sum(part for value, part in common.items() if low <= int(value) < high)
        assert share == pytest.approx(inside)


def test_eight_warehouses_in_four_and_eight_parts() -> None:
    """A number that is the same in many rows ends where its rows end."""
    spread = of_column(ColumnFacts("w", "integer", common={str(n): 0.125 for n in range(1, 9)}))
    assert spread is not None
    four, eight = bounds("integer", spread, 4), bounds("integer", spread, 8)
    assert four is not None
    assert eight is not None
    assert four.values == (3, 5, 7)
    assert eight.values == (2, 3, 4, 5, 6, 7, 8)
    assert bounds("integer", sampled([1, 1, 2, 2]), 4) is None


def test_a_histogram_beside_common_values() -> None:
    """Half of the rows have 5; the other half lies evenly between 1 and 20."""
    column = ColumnFacts("x", "integer", common={"5": 0.5}, histogram=("1", "10", "20"))
    spread = of_column(column)
    assert spread is not None
    assert spread.share_below(5) == pytest.approx(0.25 * 4 / 9)
    assert spread.quantile(0.5) == 5
    assert spread.quantile(1.0) == 20
    assert spread.share_below(100) == 1.0
    assert spread.share_below(0) == 0.0


@settings(max_examples=30)
@given(
    st.integers(40, 20_000), st.integers(0, 300_000), st.sampled_from([4, 8]),
)  # fmt: skip
def test_dates_are_cut_at_the_beginning_of_a_period(days: int, start: int, count: int) -> None:
    low = START + dt.timedelta(start)
    spread = even(low, low + dt.timedelta(days), "date")
    assert spread is not None
    found = require(bounds("date", spread, count), count)
    for one in found.values:
        assert isinstance(one, dt.date)
        if found.unit != "rows":
            assert one.day == 1
            assert found.unit != "year" or one.month == 1
            assert found.unit != "quarter" or one.month in (1, 4, 7, 10)
    allowed = UNEVEN if found.unit != "rows" else 2 * count / days
    assert max(abs(one * count - 1) for one in found.shares) <= allowed + 1e-9


def test_the_ship_dates_of_the_document() -> None:
    """1992 to 1998, in four and in eight parts."""
    spread = even(START, dt.date(1998, 12, 1), "date")
    assert spread is not None
    four, eight = bounds("date", spread, 4), bounds("date", spread, 8)
    assert four is not None
    assert eight is not None
    assert four.texts == ("1993-10-01", "1995-07-01", "1997-04-01")
    assert (four.unit, eight.unit) == ("quarter", "quarter")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("date", "1995-01-31"),
        ("timestamp", "2020-01-31 12:00:01"),
        ("integer", "-12"),
        ("decimal", "12.5"),
    ],
)
def test_a_value_is_the_same_after_it_was_a_number(kind: str, text: str) -> None:
    number = number_of(kind, text)  # type: ignore[arg-type]
    assert number is not None
    assert str(bound_of(kind, number)) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["date", "timestamp", "integer", "decimal", "text", "other"])
@settings(max_examples=30)
@given(text=st.text(max_size=20))
def test_what_is_no_value_is_none(kind: str, text: str) -> None:
    found = number_of(kind, text)  # type: ignore[arg-type]
    assert found is None or isinstance(found, float)


@settings(max_examples=30)
@given(
    st.lists(st.one_of(st.text(max_size=12), st.integers().map(str)), max_size=12),
    st.dictionaries(st.one_of(st.text(max_size=5), st.integers().map(str)), st.floats(0, 1)),
    st.floats(0, 1),
)
def test_any_statistics_give_bounds_or_none(
    histogram: list[str], common: dict[str, float], nulls: float
) -> None:
    column = ColumnFacts("x", "integer", null_share=nulls, common=common,
                         histogram=tuple(histogram))  # fmt: skip
    spread = of_column(column)
    if spread is not None and (found := bounds("integer", spread, 4)) is not None:
        require(found, 4)
