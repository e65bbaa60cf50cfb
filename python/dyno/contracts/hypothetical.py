"""Indexes that do not exist, planned by an engine: would it use them, and what would it gain?

Nothing is written: an engine plans with a hypothetical index in its own session, or in a copy of
the schema without rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dyno.contracts.advice import IndexFacts


@dataclass(frozen=True)
class Table:
    """A table with its columns, in the spelling of the catalog without quotes.

    Attributes:
        name: With its schema, quoted as the engine needs it: as ``TableFacts.name``.
        schema: Empty for an engine without schemas.
        rows: None if unknown.
    """

    name: str
    schema: str
    table: str
    columns: tuple[str, ...]
    rows: int | None = None


@dataclass(frozen=True)
class Wish:
    """An index that does not exist. ``table`` is a :attr:`Table.name`."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """How the engine would run a statement.

    Attributes:
        cost: In the planner's unit; None for a planner that shows none.
        used: The wishes in the plan.
        scanned: Names of tables that are read in full.
    """

    cost: float | None
    used: frozenset[Wish] = frozenset()
    scanned: frozenset[str] = frozenset()


class Planner(Protocol):
    """Plans statements with and without hypothetical indexes.

    Attributes:
        how: What plans: a clause.
        dialect: Its SQL in the words of sqlglot.
        tables: What it knows.
        indexes: Existing indexes, keys included.
    """

    how: str
    dialect: str
    tables: Sequence[Table]
    indexes: Sequence[IndexFacts]

    def plan(self, statement: str, tables: Iterable[Table], wishes: Sequence[Wish]) -> Planned:
        """The plan of a statement on ``tables`` if these indexes existed.

        Raises:
            DynoError: If the statement or a wish cannot be planned; one line.
        """
        ...

    def size(self, wish: Wish) -> int | None:
        """The estimated bytes of an index; None if the engine estimates none."""
        ...

    def define(self, wish: Wish, name: str) -> str:
        """The statement that creates an index."""
        ...


@runtime_checkable
class Planning(Protocol):
    """A target that plans hypothetical indexes."""

    def planner(self, workload: str) -> AbstractContextManager[Planner | str]:
        """A planner of the database, or of that of a workload; else why there is none: a clause.

        Raises:
            DynoError: If the database does not respond.
        """
        ...
