"""Answers as text that is independent of engine and driver, and their digest.

Engines return the same value as int, float, Decimal or text, dates with or without a time, and
fixed-length text with or without its padding. Canonical text is the same for all of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from dyno import _core
from dyno.contracts.rule import Rule

NULL = "\\N"
_CENT = Decimal("0.01")
# The default 28 digits are too few for a large float with two decimals.
_WIDE = Context(prec=400)


def canonical(rows: Iterable[Sequence[Any]], rules: Sequence[Rule]) -> list[tuple[str, ...]]:
    """Converts each row to texts, in the given order.

    ``exact`` columns keep all digits, without trailing zeros or blanks; ``sum`` and
    ``average`` columns are rounded to two decimals, halves away from zero.

    Raises:
        ValueError: If a row has more or fewer columns than there are rules.
    """
    writers = [_exact if rule == "exact" else _rounded for rule in rules]
    return [_row(row, writers) for row in rows]


def precise(rows: Iterable[Sequence[Any]], rules: Sequence[Rule]) -> list[tuple[str, ...]]:
    """Like :func:`canonical`, but averages and ratios keep every digit.

    Two decimals of a share such as 0.0344 would leave nothing to compare.

    Raises:
        ValueError: If a row has more or fewer columns than there are rules.
    """
    known = {"exact": _exact, "sum": _rounded, "average": _unrounded, "close": _unrounded}
    writers = [known[rule] for rule in rules]
    return [_row(row, writers) for row in rows]


def digest(rows: Iterable[Sequence[Any]], rules: Sequence[Rule]) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical rows, sorted.

    Sorted, because rows that are equal in the ``ORDER BY`` may come in any order. It covers the
    text from ``canonical``, which has two decimals of sums, averages and ratios. So equal digests
    do not prove that averages are equal.

    Raises:
        ValueError: If a row has more or fewer columns than there are rules.
    """
    rounded = [rule != "exact" for rule in rules]
    # In Rust, because a stream's next query waits for this.
    return _core.digest(rows, rounded, _exact, _rounded)


def _row(row: Sequence[Any], writers: Sequence[Callable[[Any], str]]) -> tuple[str, ...]:
    if len(row) != len(writers):
        raise ValueError(f"a row has {len(row)} columns, expected {len(writers)}")
    return tuple(writer(value) for writer, value in zip(writers, row, strict=True))


def _exact(value: Any) -> str:
    number = _number(value)
    if number is not None:
        return _plain(number)
    if value is None:
        return NULL
    if isinstance(value, (float, Decimal)):
        return str(float(value))  # not finite: one spelling of infinities and NaN
    if isinstance(value, datetime):
        return (value.date() if value.time() == time.min else value).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):  # text from a database that declares no encoding
        value = value.decode(errors="backslashreplace")
    return str(value).rstrip(" ")


def _rounded(value: Any) -> str:
    number = _parsed(value)
    if number is None:
        return _exact(value)
    rounded = number.quantize(_CENT, rounding=ROUND_HALF_UP, context=_WIDE)
    return "0.00" if rounded.is_zero() else f"{rounded:f}"


def _unrounded(value: Any) -> str:
    number = _parsed(value)
    return _exact(value) if number is None else _plain(number)


def _parsed(value: Any) -> Decimal | None:
    """A finite number, also from text, else None."""
    number = _number(value)
    if number is None and isinstance(value, str):
        try:
            number = Decimal(value.strip())
        except InvalidOperation:
            return None
    return number if number is not None and number.is_finite() else None


def _number(value: Any) -> Decimal | None:
    """A finite number as a Decimal (a float by its shortest exact text), else None."""
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    return None


def _plain(number: Decimal) -> str:
    """Text without exponent, sign of zero or trailing zeros; exact."""
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text
