"""Translates neutral SQL, which is PostgreSQL's, to another dialect."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

NEUTRAL = "postgres"
"""The grammar of neutral statements, as ``sqlglot`` calls it."""


@lru_cache(maxsize=512)
def translate(neutral: str, dialect: str) -> str:
    """Translates a neutral statement to a sqlglot ``dialect`` (``mysql``, ``sqlite`` …).

    The sort columns of Dyno's statements are never NULL, so each system's own NULL order is fine:
    nothing is added to preserve PostgreSQL's.

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be parsed.
    """
    return written(sqlglot.parse_one(neutral, read=NEUTRAL), dialect)


def written(tree: exp.Expr, dialect: str) -> str:
    """A parsed neutral statement in another dialect (see :func:`translate`)."""
    nulls = str(Dialect.get_or_raise(dialect).NULL_ORDERING)
    for ordered in tree.find_all(exp.Ordered):
        descending = bool(ordered.args.get("desc"))
        small, large = nulls == "nulls_are_small", nulls == "nulls_are_large"
        ordered.set("nulls_first", large if descending else small)
    return tree.sql(dialect=dialect)
