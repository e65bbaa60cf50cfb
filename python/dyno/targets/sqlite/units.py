"""Decimals of a transaction workload's tables, in statements of a workload of queries.

The tables hold them as integers, in units of the last digit (``ddl``). The queries mean the values.
"""

from __future__ import annotations

from sqlglot import exp

from dyno.contracts import schema
from dyno.targets.sqlite.ddl import exact


def in_values(tree: exp.Expr, workload: str) -> exp.Expr:
    """The statement with each such column divided by its unit.

    The quotient is the number nearest to the decimal, as if it were stored as REAL. A subquery must
    give such a column another name.
    """
    if exact(workload):
        return tree
    units = {
        column["name"]: 10 ** int(column["kind"]["scale"])
        for owner, table in schema.visible(workload)
        if exact(owner)
        for column in table["columns"]
        if column["kind"]["type"] == "decimal"
    }
    for column in list(tree.find_all(exp.Column)) if units else ():
        if column.name in units:
            unit = exp.Literal.number(f"{units[column.name]}.0")
            column.replace(exp.Paren(this=exp.Div(this=column.copy(), expression=unit)))
    return tree
