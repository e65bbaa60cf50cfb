"""Bounds of range partitions: by the calendar for dates, else by equal numbers of rows."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from dyno.contracts.partitioning import ColumnKind
from dyno.decide.advise.partition.spread import Spread, bound_of, number_of
from dyno.layouts.bounds import Bound, text

UNEVEN = 0.2
"""By how much the largest and the smallest partition may differ from the mean with bounds at the
beginning of a year, quarter or month; Dyno's."""
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


@dataclass(frozen=True)
class Bounds:
    """Where a table is cut.

    Attributes:
        values: The first value of each partition after the first.
        unit: ``year``, ``quarter``, ``month``, or ``rows`` for equal numbers of them.
        shares: Share of rows of each partition, 0 to 1.
    """

    values: tuple[Bound, ...]
    unit: str
    shares: tuple[float, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as SQL and layouts write them, without quotes."""
        return tuple(text(value) for value in self.values)


def bounds(kind: ColumnKind, spread: Spread, count: int) -> Bounds | None:
    """The bounds of ``count`` partitions; None if the column has too few values for them."""
    wanted = [_first_above(spread, part / count, kind) for part in range(1, count)]
    if kind in ("date", "timestamp"):
        for unit, months in _MONTHS.items():
            days = [_nearest(_date(kind, one), months) for one in wanted]
            values: list[Bound] = [
                day if kind == "date" else dt.datetime.combine(day, dt.time()) for day in days
            ]
            found = _cut(kind, spread, values, unit)
            if found is not None and _even(found.shares):
                return found
    return _cut(kind, spread, [bound_of(kind, one) for one in wanted], "rows")


def _first_above(spread: Spread, share: float, kind: ColumnKind) -> float:
    """The first value of the part after ``share`` of the rows.

    A value with many rows is on the side of the bound that divides the rows more evenly.
    """
    value = spread.quantile(share)
    if value not in spread.values:
        return value
    at = spread.values.index(value)
    if share - spread.below[at] <= spread.up_to[at] - share or at + 1 == len(spread.values):
        return value
    following = spread.values[at + 1]
    return min(value + 1, following) if kind in ("date", "integer") else following


def _cut(kind: ColumnKind, spread: Spread, values: Sequence[Bound], unit: str) -> Bounds | None:
    numbers = [number_of(kind, text(value)) or 0.0 for value in values]
    below = [0.0, *(spread.share_below(one) for one in numbers), 1.0]
    shares = tuple(high - low for low, high in itertools.pairwise(below))
    if len(set(values)) < len(values) or min(shares) <= 0:
        return None
    return Bounds(tuple(values), unit, shares)


def _even(shares: Sequence[float]) -> bool:
    mean = 1 / len(shares)
    return all(abs(one - mean) <= UNEVEN * mean for one in shares)


def _date(kind: ColumnKind, number: float) -> dt.date:
    found = bound_of(kind, number)
    return found.date() if isinstance(found, dt.datetime) else dt.date.fromordinal(round(number))


def _nearest(day: dt.date, months: int) -> dt.date:
    """The nearest beginning of a period of so many months."""
    at = (day.year * 12 + day.month - 1) // months * months
    starts = [dt.date(one // 12, one % 12 + 1, 1) for one in (at, at + months) if one < 12 * 9999]
    return min(starts, key=lambda one: abs(one - day))
