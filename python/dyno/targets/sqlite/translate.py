"""Translates neutral statements to SQLite.

SQLite has no dates, intervals or decimals. Dates are text constants, and date arithmetic is
evaluated here. So is arithmetic of constants: ``0.06 + 0.01`` is less than ``0.07`` in floating
point, and Query 6 would lose the rows at its bound.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache

import sqlglot
from sqlglot import exp

from dyno.targets.dialect import translate

_MONTHS = {"MONTH": 1, "YEAR": 12}
_FOLDED: dict[type[exp.Expr], Callable[[Decimal, Decimal], Decimal]] = {
    exp.Add: lambda left, right: left + right,
    exp.Sub: lambda left, right: left - right,
}


@lru_cache(maxsize=512)
def to_sqlite(neutral: str) -> str:
    """Translates a neutral statement to SQLite.

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be parsed.
    """
    # Bottom-up: a date becomes text before the arithmetic on it is evaluated.
    tree = sqlglot.parse_one(neutral, read="postgres")
    for node in reversed(list(tree.walk())):
        changed = _year(node) or _date(node) or _counted(node) or _folded(node) or _code(node)
        if changed is not None:
            if node is tree:
                tree = changed
            else:
                node.replace(changed)
    return translate(tree.sql(dialect="postgres"), "sqlite")


def _date(node: exp.Expr) -> exp.Expr | None:
    """Converts ``DATE '1998-12-01'`` to ``'1998-12-01'``."""
    if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE:
        return node.this.copy() if node.this.is_string else None
    return None


def _counted(node: exp.Expr) -> exp.Expr | None:
    """Evaluates a date plus or minus an interval."""
    if not isinstance(node, (exp.Add, exp.Sub)) or not isinstance(node.right, exp.Interval):
        return None
    if not node.left.is_string:
        return None
    unit = str(node.right.args["unit"]).upper().removesuffix("S")
    count = int(node.right.this.name) * (1 if isinstance(node, exp.Add) else -1)
    return exp.Literal.string(later(date.fromisoformat(node.left.name), count, unit).isoformat())


def later(day: date, count: int, unit: str) -> date:
    """``day`` plus ``count`` units; a day beyond the month's end is its last, as in PostgreSQL.

    Raises:
        KeyError: If the unit is not DAY, MONTH or YEAR.
    """
    if unit == "DAY":
        return day + timedelta(days=count)
    months = day.year * 12 + day.month - 1 + count * _MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def _year(node: exp.Expr) -> exp.Expr | None:
    """``EXTRACT(YEAR FROM x)``."""
    if not isinstance(node, exp.Extract) or node.name.upper() != "YEAR":
        return None
    text = exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string("%Y"), node.expression])
    return exp.cast(text, exp.DataType.Type.INT)


def _code(node: exp.Expr) -> exp.Expr | None:
    """``ASCII(x)``, the code of the first character."""
    if not isinstance(node, exp.Ascii):
        return None
    return exp.Anonymous(this="UNICODE", expressions=[node.this])


def _folded(node: exp.Expr) -> exp.Expr | None:
    """Evaluates a sum or difference of two constants, exactly."""
    work = _FOLDED.get(type(node))
    if work is None or not isinstance(node, exp.Binary):
        return None
    left, right = node.left, node.right
    if not (left.is_number and right.is_number):
        return None
    return exp.Literal.number(str(work(Decimal(left.sql()), Decimal(right.sql()))))
