"""Translates statements to ClickHouse SQL with the semantics of standard SQL.

Statements are the same for all engines; these differences apply to all of them:

- A number with a decimal point is exact in standard SQL and a float in ClickHouse, where
  ``0.06 + 0.01`` excludes a discount of 0.07 (Q6).
- In ClickHouse, a quotient of decimals has the scale of its dividend and is truncated. Here it is a
  float, like an average.
- A constant needs no null mask.
"""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp

from dyno.contracts import schema
from dyno.targets.clickhouse.order import Known, ordered
from dyno.targets.dialect import translate

_DIALECT = "clickhouse"


@lru_cache(maxsize=512)
def own(neutral: str) -> str:
    """Translates a neutral statement for ClickHouse.

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be parsed.
    """
    tree = sqlglot.parse_one(translate(neutral, _DIALECT), read=_DIALECT)
    for number in list(tree.find_all(exp.Literal)):
        if not number.is_string and "." in number.name and "e" not in number.name.lower():
            number.replace(_exact(number.name))
    for division in tree.find_all(exp.Div):
        division.set("this", exp.func("toFloat64", division.this.copy(), dialect=_DIALECT))
    for cast in tree.find_all(exp.Cast):
        if isinstance(cast.this, exp.Literal):
            cast.to.set("nullable", False)
    return tree.sql(dialect=_DIALECT)


@lru_cache(maxsize=512)
def in_order(neutral: str, workload: str) -> str:
    """Translates a statement on tables of which some are in rows (see ``order``).

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be parsed.
    """
    from dyno import _core

    known = {
        table["name"]: Known(
            rows=int(_core.rows(owner, table["name"], 1.0, 1)[0]),
            key=frozenset(table["primary_key"]),
            columns=frozenset(column["name"] for column in table["columns"]),
        )
        for owner, table in schema.visible(workload)
    }
    return ordered(sqlglot.parse_one(own(neutral), read=_DIALECT), known).sql(dialect=_DIALECT)


def _exact(digits: str) -> exp.Anonymous:
    decimals = exp.Literal.number(len(digits.partition(".")[2]))
    return exp.Anonymous(this="toDecimal64", expressions=[exp.Literal.string(digits), decimals])
