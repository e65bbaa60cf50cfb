"""Statements that get slower in a column store: those that look up single rows by a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dyno.decide.advise.predicates import places
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
    for place in places(parsed, lambda schema, name: _named(tables, schema, name)):
        found = _lookup(statement, place.table, place.columns("equality"))
        if found is not None and found.table not in seen:
            seen.add(found.table)
            yield found


def _named(tables: Sequence[Indexed], schema: str, name: str) -> Indexed | None:
    for table in tables:
        own, _, plain = table.name.lower().rpartition(".")
        if plain == name and schema in ("", own):
            return table
    return None


def _lookup(statement: Statement, table: Indexed, given: set[str]) -> Lookup | None:
    keys = [key for key in table.keys if key and key <= given]
    if keys:
        return Lookup(statement, table.name, unique=True, by=tuple(sorted(min(keys, key=len))))
    few = (
        statement.rows is not None
        and statement.calls > 0
        and statement.rows / statement.calls <= MOST_ROWS
    )
    by = sorted(table.leading & given)
    return Lookup(statement, table.name, unique=False, by=tuple(by)) if by and few else None
