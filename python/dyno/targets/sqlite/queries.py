"""Rewrites statements for which SQLite chooses a poor plan.

They have the same meaning as the neutral ones. There are two kinds of rewrites, and only in the
queries that ``variants/<workload>.py`` names.

**Implications of an OR.** ``(a = 1 AND b = 1) OR (a = 2 AND b = 2)`` implies that a is 1 or 2, and
a condition in all branches always holds. SQLite does not derive this. It joins every row of a's
table before it tests a (Q7), and builds the cross product of two tables whose join condition is in
all branches (Q19). PostgreSQL derives it (``extract_restriction_or_clauses``).

**Join order.** SQLite has no histograms unless it was built with STAT4, so it estimates about the
same selectivity for any condition without an index. In Q5 and Q8 it joins two tables that only have
a nation in common, which grows with the square of the scale. In Q7 it reads orders before the few
relevant suppliers. In Q10 it reads orders by customer, to have sorted groups, and so reads both
large tables in random order. ``CROSS JOIN`` is SQLite's documented way to fix the order
(https://www.sqlite.org/optoverview.html, 8.1). ``benches/sqlite_queries.txt`` has the times. The
orders are for the standard design: without an index of lines by part, as in the layout ``keys``,
Q8 is two to three times as fast in SQLite's own order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import sqlglot
from sqlglot import exp

from dyno.contracts import schema
from dyno.errors import DynoError
from dyno.targets.sqlite import variants
from dyno.targets.sqlite.translate import to_sqlite
from dyno.targets.sqlite.units import in_values

NOT_NEUTRAL = (
    "SQLite's planner has no histograms and does not look inside an OR, so Q5, Q7, "
    "Q8 and Q10 fix their join order, and Q7 and Q19 spell out what their ORs "
    "imply (docs/decisions/0008)"
)


@lru_cache(maxsize=512)
def own(workload: str, name: str, neutral: str) -> str:
    """The statement ``name`` in SQLite's dialect.

    Raises:
        sqlglot.errors.ParseError: If the statement cannot be parsed.
        DynoError: If it does not join the expected tables.
    """
    known = variants.of(workload)
    tree = in_values(sqlglot.parse_one(neutral, read="postgres"), workload)
    if name not in known.reasons:
        return to_sqlite(tree.sql(dialect="postgres"))
    order = known.orders.get(name)
    for select in list(tree.find_all(exp.Select)):
        _imply(select, workload)
    if order is not None:
        _join(tree, order)
    return to_sqlite(tree.sql(dialect="postgres"))


def _join(tree: exp.Expr, order: tuple[str, ...]) -> None:
    """Fixes the join order of the only SELECT with these tables."""
    for select in tree.find_all(exp.Select):
        source, joins = select.args.get("from_"), select.args.get("joins") or []
        if source is None or not joins:
            continue
        plain = all(not join.side for join in joins)
        found = {table.alias_or_name: table for table in (source.this, *(j.this for j in joins))}
        if not plain or set(found) != set(order):
            continue
        for join in joins:
            if (condition := join.args.get("on")) is not None:
                select.where(condition.copy(), copy=False)
        source.set("this", found[order[0]])
        select.set("joins", [exp.Join(this=found[name], kind="CROSS") for name in order[1:]])
        return
    raise DynoError(f"No SELECT joins {', '.join(order)}.")


def _imply(select: exp.Select, workload: str) -> None:
    """Adds the single-table implications of each OR to the conditions of a SELECT."""
    where = select.args.get("where")
    if where is None:
        return
    for condition in list(_parts(where.this, exp.And)):
        branches = [list(_parts(item, exp.And)) for item in _parts(condition, exp.Or)]
        if len(branches) < 2:
            continue
        shared = [item for item in branches[0] if all(item in branch for branch in branches)]
        for item in shared:
            select.where(item.copy(), copy=False)
        of = [
            [(_table(item, workload), item) for item in branch if item not in shared]
            for branch in branches
        ]
        tables = [{table for table, _ in branch if table is not None} for branch in of]
        if len(set[str]().union(*tables)) < 2:
            continue  # the OR itself already filters a single table
        for table in sorted(set.intersection(*tables)):
            each = [[item.copy() for owner, item in branch if owner == table] for branch in of]
            select.where(exp.or_(*(exp.and_(*items) for items in each)), copy=False)


def _parts(node: exp.Expr, kind: type[exp.And | exp.Or]) -> Iterator[exp.Expr]:
    """The operands of nested ANDs or ORs, without parentheses."""
    node = node.unnest()
    if isinstance(node, kind):
        yield from _parts(node.left, kind)
        yield from _parts(node.right, kind)
    else:
        yield node


def _table(condition: exp.Expr, workload: str) -> str | None:
    """The only table (or alias) in a condition; None if there are several."""
    if condition.find(exp.Query):
        return None
    names = {column.table or _owner(column.name, workload) for column in _columns(condition)}
    return names.pop() if len(names) == 1 else None


def _columns(condition: exp.Expr) -> Iterable[exp.Column]:
    return condition.find_all(exp.Column)


def _owner(column: str, workload: str) -> str | None:
    tables = [table for _, table in schema.visible(workload)]
    found = [t["name"] for t in tables if column in {each["name"] for each in t["columns"]}]
    return str(found[0]) if len(found) == 1 else None
