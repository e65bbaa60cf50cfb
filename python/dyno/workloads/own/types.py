"""Types in such files, as the driver and the generator know them."""

from __future__ import annotations

import re
from typing import Any

from dyno.errors import UsageError, nearest

Kind = str | dict[str, int]
"""A type of the driver: ``int``, ``big_int``, ``text``, ``timestamp``, or a decimal's scale."""

INT = (-(2**31), 2**31 - 1)
_NAMES: dict[str, Kind] = {"int": "int", "bigint": "big_int", "text": "text"}
_DECIMAL = re.compile(r"decimal\((?:\d+\s*,\s*)?(\d)\)")
_COLUMN = re.compile(
    r"(?P<type>int|bigint|timestamp|date|decimal\((?P<digits>\d+)\s*,\s*(?P<scale>\d+)\)"
    r"|char\((?P<len>\d+)\)|varchar\((?P<max>\d+)\))\s+(?P<values>.+)"
)
_VALUES = re.compile(
    r"(?P<row>row)|letters\s+(?P<short>\d+)(?:\.\.(?P<long>\d+))?"
    r"|(?P<low>-?\d+)(?:\.\.(?P<high>-?\d+))?"
)


def kind_of(text: str, where: str) -> Kind:
    """A type of a variable.

    Raises:
        UsageError: If the type is unknown.
    """
    if (decimal := _DECIMAL.fullmatch(text)) and int(decimal[1]) <= 8:
        return {"decimal": int(decimal[1])}
    if text not in _NAMES:
        known = [*_NAMES, "decimal(2)"]
        raise UsageError(f"{where} has the type '{text}'. {nearest(text, known)}")
    return _NAMES[text]


def fitting(low: int, high: int) -> Kind:
    """The type for numbers from ``low`` to ``high``."""
    return "int" if INT[0] <= low and high <= INT[1] else "big_int"


def column_of(text: str, where: str) -> tuple[dict[str, Any], Any]:
    """Type and values of a table's column, as the generator declares them.

    Raises:
        UsageError: If it is not ``TYPE VALUES``.
    """
    found = _COLUMN.fullmatch(text.strip())
    values = _VALUES.fullmatch(found["values"]) if found else None
    if found is None or values is None:
        raise UsageError(
            f"{where} is '{text}'; write TYPE VALUES: int, bigint, decimal(12,2), date, timestamp, "
            "char(N) or varchar(N), and row, 1..100, 0, letters 20 or letters 5..20."
        )
    kind = _column_kind(found)
    if values["row"]:
        return kind, "row"
    if values["short"]:
        return kind, {"letters": [int(values["short"]), int(values["long"] or values["short"])]}
    low = int(values["low"])
    return kind, {"between": [low, int(values["high"] or low)]}


def _column_kind(found: re.Match[str]) -> dict[str, Any]:
    if found["digits"]:
        return {"type": "decimal", "precision": int(found["digits"]), "scale": int(found["scale"])}
    if found["len"]:
        return {"type": "char", "len": int(found["len"])}
    if found["max"]:
        return {"type": "varchar", "max": int(found["max"])}
    return {"type": {"int": "int32", "bigint": "int64"}.get(found["type"], found["type"])}
