"""Values that draws take from a query's rows or a CSV file."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

from dyno.contracts.target import Connection
from dyno.errors import UsageError, nearest
from dyno.safety import safefiles
from dyno.safety.messages import without_values
from dyno.workloads.own.types import Kind, fitting

MOST_VALUES = 1_000_000
LONGEST_CSV = 64 << 20
"""Bytes of a CSV file."""

Value = int | str | None


def of_csv(path: Path, column: str, kind: Kind, where: str) -> list[Value]:
    """The values of a column of a CSV file with a header.

    Raises:
        UsageError: If the file cannot be read, lacks the column, or a value does not fit.
    """
    try:
        content = safefiles.read_text(path.resolve(), LONGEST_CSV)
    except (OSError, UnicodeError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"Cannot read the CSV of {where}, {path}: {reason}.") from error
    try:
        rows = csv.DictReader(io.StringIO(content.removeprefix("\ufeff"), newline=""), strict=True)
        header = list(rows.fieldnames or ())
        if column not in header:
            raise UsageError(f"{path.name} has no column '{column}'. {nearest(column, header)}")
        found = [row[column] for row in rows]
    except csv.Error as error:
        raise UsageError(f"{path.name} is not valid CSV: {error}.") from error
    _require_number(len(found), f"{path.name}")
    short = next((at for at, text in enumerate(found, start=2) if text is None), None)
    if short is not None:
        raise UsageError(f"{path.name}, row {short}: the column '{column}' is missing.")
    return [_typed(text, kind, f"{path.name}, row {at}") for at, text in enumerate(found, start=2)]


def of_query(session: Connection, text: str, where: str) -> list[Value | Decimal]:
    """The first column of a query's rows.

    Raises:
        UsageError: If there are none, too many, or of a type that no parameter can have.
    """
    with without_values():
        result = session.execute(text)
    _require_number(len(result.rows), where)
    found = [row[0] for row in result.rows]
    strange = next((each for each in found if not _is_plain(each)), None)
    if strange is not None:
        raise UsageError(
            f"{where} returns values of the type {type(strange).__name__}; cast them to an "
            "integer, a decimal or a text."
        )
    return found


def kind_of_values(values: list[Value | Decimal], where: str) -> Kind:
    """The type of values, which must all be numbers or all be texts.

    Raises:
        UsageError: If they are not.
    """
    known = [each for each in values if each is not None]
    if all(isinstance(each, str) for each in known):
        return "text"
    if all(isinstance(each, int) for each in known):
        whole = [each for each in known if isinstance(each, int)]
        return fitting(min(whole), max(whole))
    if any(isinstance(each, str) for each in known):
        raise UsageError(f"{where} has numbers and texts; they do not fit one type.")
    return {"decimal": max(_digits(each) for each in known)}


def literals(values: list[Value | Decimal], kind: Kind, where: str) -> list[Value]:
    """Values for the driver: decimals in units of the last digit.

    Raises:
        UsageError: If one does not fit.
    """
    return [_typed(str(each), kind, where) if each is not None else None for each in values]


def _is_plain(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value is None or whole or isinstance(value, str | Decimal)


def _digits(value: Any) -> int:
    exponent = Decimal(value).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _require_number(count: int, where: str) -> None:
    if not 1 <= count <= MOST_VALUES:
        what = "no values" if not count else f"more than {MOST_VALUES:,} values"
        raise UsageError(f"{where} has {what}.")


def _typed(text: str, kind: Kind, where: str) -> Value:
    """A text as a value of a type; errors do not show it."""
    if kind == "text":
        return text
    try:
        scale = kind["decimal"] if isinstance(kind, dict) else 0
        units = Decimal(text.strip()).scaleb(scale)
        if units != units.to_integral_value() or abs(units) >= 2**63:
            raise ValueError
        number = int(units)
        if kind == "int" and fitting(number, number) != "int":
            raise ValueError
    except (ArithmeticError, ValueError):
        wanted = kind if isinstance(kind, str) else f"decimal({kind['decimal']})"
        raise UsageError(f"{where} has a value that does not fit the type {wanted}.") from None
    return number
