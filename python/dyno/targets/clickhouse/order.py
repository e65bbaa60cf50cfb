"""One join order for all forms of tables: the largest table first, then what it refers to.

ClickHouse knows the rows of tables in columns, not those of a file of rows. It then plans cross
products that look small, and a study of forms would compare plans. With a table in rows, Dyno
writes the order into the statement and switches the engine's own ordering off
(``docs/decisions/0024``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

SETTINGS: dict[str, int | str] = {
    "query_plan_optimize_join_order_limit": 0,
    "query_plan_join_swap_table": "false",
}
"""Session settings under which the engine joins in the order of the statement."""


@dataclass(frozen=True)
class Known:
    """A table.

    Attributes:
        rows: At any one scale, to compare.
        key: The columns of its primary key.
        columns: All its columns; their names are unique in a workload.
    """

    rows: int
    key: frozenset[str]
    columns: frozenset[str]


Conditions = Mapping[str, Mapping[str, set[str]]]
"""By alias of a table: other aliases, and its columns that conditions equate with theirs."""


def ordered(tree: exp.Expr, known: Mapping[str, Known]) -> exp.Expr:
    """The statement with the tables of each inner join in one order.

    A hash join reads its left side once and keeps its right side in memory, so the largest table
    comes first. Then comes always the smallest table whose key is known from those before: it adds
    no rows. Without such a table, the smallest one that has a condition on them.
    """
    for select in list(tree.find_all(exp.Select)):
        source, joins = select.args.get("from_"), select.args.get("joins") or []
        if source is None or not joins or not all(map(_plain, joins)):
            continue
        tables = [source.this, *(join.this for join in joins)]
        if all(isinstance(table, exp.Table) for table in tables):
            first, *others = _order(tables, _conditions(select, tables, known), known)
            source.set("this", first)
            for join, table in zip(joins, others, strict=True):
                join.set("this", table)
    return tree


def _plain(join: exp.Join) -> bool:
    """Whether the join only adds a table, and its conditions are in WHERE."""
    bare = not (join.args.get("on") or join.args.get("using") or join.side)
    return bare and join.kind in ("", "CROSS")


def _conditions(
    select: exp.Select, tables: Sequence[exp.Table], known: Mapping[str, Known]
) -> Conditions:
    homes = {
        column: table.alias_or_name
        for table in tables
        if table.name in known
        for column in known[table.name].columns
    }
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    where = select.args.get("where")
    for equal in where.find_all(exp.EQ) if where is not None else ():
        one, other = equal.this, equal.expression
        if isinstance(one, exp.Column) and isinstance(other, exp.Column):
            of_one, of_other = (each.table or homes.get(each.name, "") for each in (one, other))
            found[of_one][of_other].add(one.name)
            found[of_other][of_one].add(other.name)
    return found


def _order(
    tables: Sequence[exp.Table], conditions: Conditions, known: Mapping[str, Known]
) -> list[exp.Table]:
    def rank(table: exp.Table) -> tuple[bool, bool]:
        """Whether the key is not known from the tables before, and whether nothing is."""
        names = [one.alias_or_name for one in found]
        by = conditions.get(table.alias_or_name, {})
        columns = set[str]().union(*(by.get(name, set()) for name in names))
        key = known[table.name].key if table.name in known else frozenset[str]()
        return not (key and key <= columns), not columns

    left = sorted(tables, key=lambda table: known[table.name].rows if table.name in known else 0)
    found = [left.pop()]
    while left:
        found.append(min(left, key=rank))  # of several alike, the smallest
        left.remove(found[-1])
    return found
