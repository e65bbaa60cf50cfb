"""How the values of a column are spread over its rows, and where equal numbers of rows end."""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from dyno.contracts.advice import ColumnFacts
from dyno.contracts.partitioning import ColumnKind
from dyno.layouts.bounds import Bound

_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Spread:
    """The distribution of a column over the rows that have a value.

    Attributes:
        values: As numbers (days, seconds), rising.
        below: Share of rows below each of them.
        up_to: Share of rows up to each of them, inclusive.
        source: Where it comes from.
    """

    values: tuple[float, ...]
    below: tuple[float, ...]
    up_to: tuple[float, ...]
    source: str

    def share_below(self, value: float) -> float:
        """Share of rows below ``value``; between two known values it rises evenly."""
        at = bisect_right(self.values, value) - 1
        if at < 0:
            return 0.0
        if self.values[at] == value:
            return self.below[at]
        if at + 1 == len(self.values):
            return 1.0
        left, right = self.values[at], self.values[at + 1]
        return self.up_to[at] + (self.below[at + 1] - self.up_to[at]) * (
            (value - left) / (right - left)
        )

    def quantile(self, share: float) -> float:
        """The least value with at least ``share`` of the rows up to it."""
        previous = 0
        for at, value in enumerate(self.values):
            if self.up_to[at] >= share:
                if at == 0 or self.below[at] <= share:
                    return value
                low, high = self.up_to[previous], self.below[at]
                left = self.values[previous]
                return left + (value - left) * (share - low) / (high - low)
            previous = at
        return self.values[-1]


def of_column(column: ColumnFacts) -> Spread | None:
    """The distribution that the engine's statistics or a sample show; None without them."""
    common = {
        number: share
        for text, share in column.common.items()
        if (number := number_of(column.kind, text)) is not None and share > 0
    }
    bounds = [number_of(column.kind, text) for text in column.histogram]
    edges = sorted(one for one in bounds if one is not None)
    if len(edges) < 2 and not common:
        return None
    rest = max(0.0, 1.0 - sum(common.values()) - (column.null_share or 0.0))
    rest = rest if len(edges) > 1 else 0.0
    whole = rest + sum(common.values())
    if not whole:
        return None
    bins = max(1, len(edges) - 1)
    values = sorted({*edges, *common})
    below: list[float] = []
    up_to: list[float] = []
    counted = 0.0
    for value in values:
        counted += common.get(value, 0.0)
        before = counted - common.get(value, 0.0)
        below.append((before + rest * _position(edges, value, first=True) / bins) / whole)
        up_to.append((counted + rest * _position(edges, value, first=False) / bins) / whole)
    return Spread(tuple(values), tuple(below), tuple(up_to), column.source)


def _position(edges: list[float], value: float, *, first: bool) -> float:
    """Bins of the histogram below a value (``first``) or up to it."""
    if not edges or value < edges[0]:
        return 0.0
    if value > edges[-1]:
        return float(len(edges) - 1)
    at = bisect_right(edges, value) - 1
    if edges[at] == value:
        return float(edges.index(value) if first else at)
    return at + (value - edges[at]) / (edges[at + 1] - edges[at])


def even(low: Bound, high: Bound, kind: ColumnKind) -> Spread | None:
    """A distribution that is assumed to be even between two values, both inclusive."""
    ends = number_of(kind, str(low)), number_of(kind, str(high))
    if ends[0] is None or ends[1] is None or ends[1] <= ends[0]:
        return None
    top = ends[1] + (1.0 if kind in ("date", "integer") else 0.0)
    return Spread((ends[0], top), (0.0, 1.0), (0.0, 1.0), "")


def number_of(kind: ColumnKind, text: str) -> float | None:
    """A value of a column as a number: days, seconds, or itself; None if it is none."""
    reader = _NUMBERS.get(kind)
    try:
        found = None if reader is None else reader(text.strip())
    except (ValueError, InvalidOperation, OverflowError):
        return None
    return found if found is not None and math.isfinite(found) else None


def _seconds(text: str) -> float:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
    return (moment - _EPOCH).total_seconds()


_NUMBERS: dict[ColumnKind, Callable[[str], float]] = {
    "date": lambda text: float(dt.date.fromisoformat(text[:10]).toordinal()),
    "timestamp": _seconds,
    "integer": lambda text: float(int(text)),
    "decimal": lambda text: float(Decimal(text)),
}


def bound_of(kind: ColumnKind, number: float) -> Bound:
    """A number as a value of its column; the inverse of :func:`number_of`, rounded."""
    if kind == "date":
        return dt.date.fromordinal(round(number))
    if kind == "timestamp":
        return _EPOCH + dt.timedelta(seconds=round(number))
    if kind == "decimal":
        return Decimal(f"{number:.15g}")
    return round(number)
