"""Neutral SQL, which is PostgreSQL's, in the words of another system."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect


@lru_cache(maxsize=512)
def translate(neutral: str, dialect: str) -> str:
    """One neutral statement in ``dialect``, as sqlglot calls it (``mysql``, ``sqlite`` …).

    Columns that Dyno's statements sort by are never NULL, so each system's own place for NULLs
    stands: nothing is added to keep PostgreSQL's.

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be read.
    """
    tree = sqlglot.parse_one(neutral, read="postgres")
    nulls = str(Dialect.get_or_raise(dialect).NULL_ORDERING)
    for ordered in tree.find_all(exp.Ordered):
        descending = bool(ordered.args.get("desc"))
        small, large = nulls == "nulls_are_small", nulls == "nulls_are_large"
        ordered.set("nulls_first", large if descending else small)
    return tree.sql(dialect=dialect)
