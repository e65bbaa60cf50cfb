"""Statements in ClickHouse's own SQL: translated, and made to mean what standard SQL means.

No statement needs a text of its own; these differences concern them all:

- A number with a decimal point is exact in standard SQL and a float in ClickHouse, where
  ``0.06 + 0.01`` then leaves out a discount of 0.07 (Q6).
- A quotient of decimals has no more decimals than its dividend there, and the rest is cut off;
  here it is a float, as an average is.
- A constant needs no mask of NULLs.
"""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp

from dyno.targets.dialect import translate

_DIALECT = "clickhouse"


@lru_cache(maxsize=512)
def own(neutral: str) -> str:
    """A neutral statement as ClickHouse takes it.

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be read.
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


def _exact(digits: str) -> exp.Anonymous:
    decimals = exp.Literal.number(len(digits.partition(".")[2]))
    return exp.Anonymous(this="toDecimal64", expressions=[exp.Literal.string(digits), decimals])
