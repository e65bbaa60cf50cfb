"""Bounds of range partitions: typed by the column, in order, and spread over its range."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from dyno.contracts.layout import Partition, Side
from dyno.errors import UsageError

Bound = int | Decimal | dt.date | dt.datetime

_DAY = dt.timedelta(days=1)
_MICROSECOND = dt.timedelta(microseconds=1)


def typed(kind: dict[str, Any], value: Any, where: str) -> Bound:
    """A bound as a value of its column.

    Args:
        kind: The column's type, as the generator declares it.
        value: What the TOML says.
        where: What it is called, for the message.

    Raises:
        UsageError: If it is none.
    """
    reader, wanted = _READERS.get(kind["type"], _NO_READER)
    found = reader(value)
    if found is not None:
        return found
    shown = value.isoformat() if isinstance(value, dt.date) else repr(value)
    raise UsageError(f"{where} is {shown}; it must be {wanted}.")


def _whole(value: Any) -> Bound | None:
    return value if type(value) is int else None


def _decimal(value: Any) -> Bound | None:
    if type(value) is not int and not isinstance(value, str | float):
        return None
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _date(value: Any) -> Bound | None:
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            return None
    return value if type(value) is dt.date else None


def _timestamp(value: Any) -> Bound | None:
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, dt.datetime) and value.tzinfo is None else None


def _none(_value: Any) -> Bound | None:
    return None


_Reader = Callable[[Any], Bound | None]
_READERS: dict[str, tuple[_Reader, str]] = {
    "int32": (_whole, "a whole number like 1000"),
    "int64": (_whole, "a whole number like 1000"),
    "decimal": (_decimal, 'a decimal like "12.50"'),
    "date": (_date, "a date like 1995-01-31"),
    "timestamp": (_timestamp, "a time like 2020-01-31T12:00:00, without a time zone"),
}
_NO_READER: tuple[_Reader, str] = (
    _none,
    "of another column: servers sort texts differently",
)


def require_order(bounds: Sequence[Bound], where: str) -> None:
    """Refuses bounds that do not rise.

    Raises:
        UsageError: Naming the pair.
    """
    for at, (left, right) in enumerate(itertools.pairwise(bounds), start=1):
        if left == right:
            raise UsageError(f"{where}[{at}] repeats the bound {text(right)}.")
        if right < left:  # pyright: ignore[reportOperatorIssue]  (all are of one type)
            raise UsageError(
                f"{where}[{at}] is {text(right)}, below {text(left)} before it; bounds must "
                "increase."
            )


def spread(low: Bound, high: Bound, count: int, where: str) -> list[Bound]:
    """The bounds that cut ``low`` to ``high``, both inclusive, into ``count`` even ranges.

    Raises:
        UsageError: If there are not so many values.
    """
    bounds: list[Bound] = []
    if isinstance(low, dt.datetime) and isinstance(high, dt.datetime):
        bounds += [low + (high - low) * part / count for part in range(1, count)]
    elif type(low) is dt.date and type(high) is dt.date:
        days = (high - low).days + 1
        bounds += [low + _DAY * (days * part // count) for part in range(1, count)]
    elif isinstance(low, int) and isinstance(high, int):
        bounds += [low + (high - low + 1) * part // count for part in range(1, count)]
    else:
        raise UsageError(f"{where}: use bounds; count supports integers and dates only.")
    if len(set(bounds)) < count - 1 or bounds[0] == low:
        raise UsageError(f"{where}: there are fewer than {count} values; use a smaller count.")
    return bounds


def cut(
    table: str, kind: dict[str, Any], bounds: Sequence[Bound], side: Side, volumes: Sequence[str]
) -> tuple[Partition, ...]:
    """The partitions between bounds, the outer two open; volumes are used in turn.

    Engines take the lower end as inside. With ``left`` a bound belongs to the partition on its
    left, so that the next possible value begins the one on its right.
    """
    edges = [text(bound if side == "right" else _next(kind, bound)) for bound in bounds]
    lows, highs = [None, *edges], [*edges, None]
    return tuple(
        Partition(
            name=f"{table}_p{number + 1}",
            low=low,
            high=high,
            volume=volumes[number % len(volumes)] if volumes else None,
        )
        for number, (low, high) in enumerate(zip(lows, highs, strict=True))
    )


def text(bound: Bound) -> str:
    """A bound as SQL and people write it."""
    if isinstance(bound, dt.datetime):
        return bound.isoformat(sep=" ")
    return bound.isoformat() if isinstance(bound, dt.date) else str(bound)


def _next(kind: dict[str, Any], bound: Bound) -> Bound:
    """The smallest value of the column above ``bound``."""
    if isinstance(bound, dt.datetime):
        return bound + _MICROSECOND
    if isinstance(bound, dt.date):
        return bound + _DAY
    if isinstance(bound, Decimal):
        return bound + Decimal(1).scaleb(-int(kind["scale"]))
    return bound + 1
