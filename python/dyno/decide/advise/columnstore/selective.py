"""Statements that get slower in a column store: those that look up single rows by a key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dyno.decide.advise.statements import UnreadableError, tree
from dyno.decide.advise.uses import Statement

MOST_ROWS = 100.0
"""Rows of a call up to which a lookup by the first column of an index is selective. Dyno's."""
MOST_STATEMENTS = 200
_READS = re.compile(r"\s*(?:select|with|update|delete)\b", re.IGNORECASE)
"""Statements with a condition; sqlglot warns of commands."""


@dataclass(frozen=True)
class Indexed:
    """A table with what finds single rows in it.

    Attributes:
        name: Without quotes, with its schema.
        columns: All its columns.
        keys: The columns of its unique keys.
        leading: The first columns of its other indexes.
    """

    name: str
    columns: frozenset[str]
    keys: tuple[frozenset[str], ...]
    leading: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lookup:
    """A statement that reads few rows of a table.

    Attributes:
        unique: Whether a unique key finds the row; else the first column of an index.
        by: The columns.
    """

    statement: Statement
    table: str
    unique: bool
    by: tuple[str, ...]


def lookups(
    statements: Sequence[Statement], tables: Iterable[Indexed], dialect: str
) -> tuple[list[Lookup], int]:
    """Statements that look up single rows, and how many could not be parsed.

    Only the statements with most reads are parsed, in a dialect of sqlglot.
    """
    found: list[Lookup] = []
    unread = 0
    known = list(tables)
    for one in statements[:MOST_STATEMENTS]:
        if not _READS.match(one.text):
            continue
        try:
            found += _of(one, tree(one.text, dialect), known)
        except UnreadableError:
            unread += 1
    return found, unread


def _of(statement: Statement, parsed: exp.Expr, tables: Sequence[Indexed]) -> Iterator[Lookup]:
    seen: set[str] = set()
    for scope in parsed.find_all(exp.Select, exp.Update, exp.Delete):
        where = scope.args.get("where")
        if where is None:
            continue
        sources = _sources(scope)
        for alias, table in _matched(sources, tables).items():
            given = _equated(where.this, alias, table, alone=len(sources) == 1)
            found = _lookup(statement, table, given)
            if found is not None and table.name not in seen:
                seen.add(table.name)
                yield found


def _lookup(statement: Statement, table: Indexed, given: Collection[str]) -> Lookup | None:
    keys = [key for key in table.keys if key and key <= set(given)]
    if keys:
        return Lookup(statement, table.name, unique=True, by=tuple(sorted(min(keys, key=len))))
    few = (
        statement.rows is not None
        and statement.calls > 0
        and statement.rows / statement.calls <= MOST_ROWS
    )
    by = sorted(table.leading & set(given))
    return Lookup(statement, table.name, unique=False, by=tuple(by)) if by and few else None


def _sources(scope: exp.Expr) -> dict[str, exp.Table]:
    """The tables of a statement by alias, without those of its subqueries."""
    source = scope.args.get("from_")
    nodes = [scope.this if isinstance(scope, exp.Update | exp.Delete) else None]
    nodes += [source.this if source is not None else None]
    nodes += [join.this for join in scope.args.get("joins") or []]
    return {node.alias_or_name: node for node in nodes if isinstance(node, exp.Table)}


def _matched(sources: Mapping[str, exp.Table], tables: Sequence[Indexed]) -> dict[str, Indexed]:
    found: dict[str, Indexed] = {}
    for alias, node in sources.items():
        for table in tables:
            schema, _, name = table.name.rpartition(".")
            if node.name == name and node.db in ("", schema):
                found[alias] = table
    return found


def _equated(condition: exp.Expr, alias: str, table: Indexed, *, alone: bool) -> set[str]:
    """Columns that all rows must have equal to a value."""
    terms = condition.flatten() if isinstance(condition, exp.And) else [condition]
    found: set[str] = set()
    for term in terms:
        bare = term.unnest()
        if isinstance(bare, exp.EQ):
            sides = (bare.this, bare.expression)
            for one, other in (sides, sides[::-1]):
                if isinstance(one, exp.Column) and not list(other.find_all(exp.Column)):
                    own = one.table == alias or (not one.table and one.name in table.columns)
                    if own or (alone and not one.table):
                        found.add(one.name)
    return found & table.columns if table.columns else found
