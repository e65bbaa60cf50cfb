"""Translates neutral statements to T-SQL with the results of standard SQL.

These differences are those of the product, not of its words:

- The sum of integers is an integer of the same width, and overflows. Here 32 bits are summed in 64,
  and 64 bits as decimals. Rows are counted with ``COUNT_BIG``.
- The average of integers is an integer. Here it is a decimal.
- A quotient of decimals has few digits if its operands have many: six for two sums. Here it is a
  float. A quotient of integers is an integer, as in standard SQL.
- ``GROUP BY`` knows no names of result columns, and there are no intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

import sqlglot
from sqlglot import exp

from dyno import workloads
from dyno.contracts import schema
from dyno.targets.dialect import NEUTRAL, written

_DIALECT = "tsql"
_WIDTHS = {"int32": 4, "int64": 8}
_SUMS = {4: "BIGINT", 8: "DECIMAL(38, 0)"}

Aliases = Mapping[str, list[exp.Expr]]
"""Expressions of result columns by name."""


@lru_cache(maxsize=512)
def own(neutral: str) -> str:
    """Translates a neutral statement.

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be parsed.
    """
    tree = sqlglot.parse_one(neutral, read=NEUTRAL)
    for select in tree.find_all(exp.Select):
        _group(select)
    aliases = _aliases(tree)
    # Bottom-up, so that no node is visited after its parent has been replaced.
    for node in reversed(list(tree.walk())):
        if isinstance(node, exp.Sum) and (width := _width(node.this, aliases)):
            node.set("this", exp.cast(node.this.copy(), _SUMS[width]))
        elif isinstance(node, exp.Avg) and _width(node.this, aliases):
            node.set("this", exp.cast(node.this.copy(), "DECIMAL(19, 0)"))
        elif isinstance(node, exp.Count):
            node.set("big_int", True)
        elif isinstance(node, exp.Div) and not _whole(node, aliases):
            node.set("this", exp.cast(node.this.copy(), exp.DataType.Type.DOUBLE))
        elif isinstance(node, (exp.Add, exp.Sub)) and isinstance(node.right, exp.Interval):
            node.replace(_later(node, node.right))
    return written(tree, _DIALECT)


def _aliases(tree: exp.Expr) -> Aliases:
    """A column of a UNION has its name from the first SELECT, and its type from all of them."""
    found: dict[str, list[exp.Expr]] = {}
    for select in tree.find_all(exp.Select):
        first = select
        while isinstance(first.parent, exp.SetOperation):
            first = first.parent
        names = first.named_selects
        for name, item in zip(names, select.expressions, strict=False):
            found.setdefault(name, []).append(item.unalias())
    return found


def _group(select: exp.Select) -> None:
    """Puts the expressions of result columns for their names in GROUP BY."""
    group = select.args.get("group")
    if group is None:
        return
    named = {item.alias: item.this for item in select.expressions if isinstance(item, exp.Alias)}
    for key in list(group.expressions):
        if isinstance(key, exp.Column) and not key.table and key.name in named:
            key.replace(named[key.name].copy())


def _later(node: exp.Add | exp.Sub, interval: exp.Interval) -> exp.Expr:
    """A date plus or minus an interval."""
    unit = str(interval.args["unit"]).upper().removesuffix("S")
    count = int(interval.this.name) * (1 if isinstance(node, exp.Add) else -1)
    parts = [exp.var(unit), exp.Literal.number(count), node.left.copy()]
    return exp.Anonymous(this="DATEADD", expressions=parts)


def _whole(node: exp.Div, aliases: Aliases) -> bool:
    return bool(_width(node.left, aliases) and _width(node.right, aliases))


def _width(node: exp.Expr, aliases: Aliases) -> int:
    """Bytes of an integer expression; 0 for anything else."""
    widths = [_leaf(leaf, aliases) for leaf in _values(node)]
    return max(widths) if widths and all(widths) else 0


def _values(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of an expression that determine its type."""
    match node:
        case exp.Paren() | exp.Neg() | exp.Max() | exp.Min():
            yield from _values(node.this)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod():
            yield from _values(node.left)
            yield from _values(node.right)
        case exp.Coalesce():
            for part in (node.this, *node.expressions):
                yield from _values(part)
        case exp.Case():
            ends = [item.args["true"] for item in node.args["ifs"]]
            for part in (*ends, *filter(None, [node.args.get("default")])):
                yield from _values(part)
        case _:
            yield node


def _leaf(node: exp.Expr, aliases: Aliases) -> int:
    if isinstance(node, exp.Literal):
        return 4 if not node.is_string and node.name.isdigit() else 0
    if isinstance(node, (exp.Count, exp.Sum)):
        return 8 if isinstance(node, exp.Count) else _width(node.this, aliases) and 8
    if not isinstance(node, exp.Column):
        return 0
    if node.name in _columns():
        return _columns()[node.name]
    given = [part for part in aliases.get(node.name, []) if not _names(part, node.name)]
    widths = [_width(part, aliases) for part in given]
    return max(widths) if widths and all(widths) else 0


def _names(node: exp.Expr, name: str) -> bool:
    return any(column.name == name for column in node.find_all(exp.Column))


@cache
def _columns() -> dict[str, int]:
    """Bytes of the integer columns of all workloads by name; 0 for those of another type."""
    found: dict[str, int] = {}
    for name in workloads.names():
        workloads.get(name)  # which declares its tables
        for table in schema.tables(name):
            for column in table["columns"]:
                width = _WIDTHS.get(column["kind"]["type"], 0)
                found[column["name"]] = max(width, found.get(column["name"], 0))
    return found
