"""Bounds: spread evenly, and belonging to the side they are said to."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from dyno.errors import UsageError
from dyno.layouts import bounds

DATE = {"type": "date"}


def edges(kind: dict[str, Any], value: Any, side: Any) -> tuple[str | None, str | None]:
    left, right = bounds.cut("t", kind, [value], side, [])
    assert (left.low, right.high) == (None, None)
    assert left.high == right.low
    return left.high, right.low


@pytest.mark.parametrize(
    ("kind", "value", "right", "left"),
    [
        (DATE, dt.date(1995, 12, 31), "1995-12-31", "1996-01-01"),
        ({"type": "int32"}, 7, "7", "8"),
        ({"type": "decimal", "precision": 15, "scale": 2}, Decimal("1.5"), "1.5", "1.51"),
        (
            {"type": "timestamp"},
            dt.datetime(2020, 1, 1, 12),
            "2020-01-01 12:00:00",
            "2020-01-01 12:00:00.000001",
        ),
    ],
)
def test_a_bound_belongs_to_its_side(
    kind: dict[str, Any], value: Any, right: str, left: str
) -> None:
    # The lower end is inside: with "left" the first value on the right is the next above the bound.
    assert edges(kind, value, "right")[0] == right
    assert edges(kind, value, "left")[0] == left


def test_dates_are_spread_evenly() -> None:
    low, high = dt.date(2000, 1, 1), dt.date(2000, 1, 8)
    assert bounds.spread(low, high, 4, "x") == [dt.date(2000, 1, day) for day in (3, 5, 7)]
    assert bounds.spread(1, 10, 3, "x") == [4, 7]
    with pytest.raises(UsageError, match="fewer than 9 values"):
        bounds.spread(low, high, 9, "x")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ({"type": "int64"}, True),
        ({"type": "int64"}, "7"),
        ({"type": "decimal"}, "nan"),
        ({"type": "decimal"}, True),
        (DATE, "1995-13-01"),
        (DATE, dt.datetime(1995, 1, 1)),
        ({"type": "timestamp"}, dt.datetime(1995, 1, 1, tzinfo=dt.UTC)),
        ({"type": "timestamp"}, "yesterday"),
        ({"type": "char", "len": 3}, "abc"),
    ],
)
def test_a_bound_of_another_type_is_refused(kind: dict[str, Any], value: Any) -> None:
    with pytest.raises(UsageError, match=r"b is .*; it must be"):
        bounds.typed(kind, value, "b")
