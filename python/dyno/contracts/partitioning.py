"""How an engine partitions a table that exists, for advice; Dyno never runs these commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

ColumnKind = Literal["date", "timestamp", "integer", "decimal", "text", "other"]


@dataclass(frozen=True)
class Stored:
    """How an engine with a choice stores a unique key.

    Attributes:
        constraint: Whether a constraint owns its index.
        clustered: Whether its index holds the rows.
        special: Whether its index has a filter, included columns or a descending one.
    """

    constraint: bool = True
    clustered: bool = False
    special: bool = False


@dataclass(frozen=True)
class Cut:
    """A table and how it is to be cut.

    Attributes:
        table: Its name as the engine quotes it, with the schema.
        column: The partition column, unquoted.
        bounds: First values of the partitions after the first, as SQL literals; empty for hash.
        count: Number of partitions.
        keys: Columns of each unique key by name, as they must be.
        widened: Names of those that need the partition column in addition.
        indexes: Columns of the other indexes, as definitions.
        foreign_keys: Names of foreign keys that cannot stay.
        nullable: Whether the column may be NULL.
        primary: The name of the primary key; empty without.
        stored: How unique keys are stored, by name.
        rows_in: The index that holds the rows; empty for a heap.
    """

    table: str
    column: str
    bounds: tuple[str, ...]
    count: int
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    widened: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[str, ...] = ()
    nullable: bool = False
    primary: str = ""
    stored: Mapping[str, Stored] = field(default_factory=dict[str, Stored])
    rows_in: str = ""


@dataclass(frozen=True)
class Partitioning:
    """What an engine can do.

    Attributes:
        ranges: Kinds of columns of ranges.
        hashes: Kinds of columns of hash partitions.
        keys: Why each unique key must have the column; a sentence, empty if it need not.
        commands: What turns a table into a partitioned one.
    """

    ranges: frozenset[ColumnKind]
    hashes: frozenset[ColumnKind]
    keys: str
    commands: Callable[[Cut], tuple[str, ...]]
