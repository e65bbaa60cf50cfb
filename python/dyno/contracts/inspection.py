"""Statements and relations of a database: what it counted for each between two points in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

MOST_ROWS = 1000
"""Rows kept of a period, for statements and for relations: those with most reads and most time."""

UNRECORDED = ("nested", "database")
"""Attributes of a statement that bundles do not have: ``dyno capture`` needs them."""

MOST_PLANS = 20
"""Statements with a plan: those with most time."""


@dataclass(frozen=True)
class StatementUse:
    """One normalised statement. Unknown values are None.

    Attributes:
        statement: The engine's identifier.
        text: The statement without literals, at most 10,000 characters.
        calls: Executions that ended in the period.
        total_ms: Their total time.
        min_ms, max_ms: Shortest and longest; of a longer period if the engine cannot reset them.
        rows: Rows returned or changed.
        logical_reads: Pages looked up in the cache.
        physical_reads: Pages that were not in it.
        temp_bytes: Bytes written to temporary files.
        plan: Its plan as text, if the engine keeps it or makes one for the text.
        nested: How many of ``calls`` another statement made, such as one in a function.
        database: The database of its sessions; empty if unknown, or if only one is counted.
    """

    statement: str
    text: str
    calls: int
    total_ms: float
    min_ms: float | None = None
    max_ms: float | None = None
    rows: int | None = None
    logical_reads: int | None = None
    physical_reads: int | None = None
    temp_bytes: int | None = None
    plan: str | None = None
    nested: int = 0
    database: str = ""


@dataclass(frozen=True)
class RelationUse:
    """One table or index. Unknown values are None.

    Attributes:
        relation: Its name with the schema: ``tpcc.stock``.
        kind: A table's own pages, or an index.
        of_table: The table of an index, with the schema; else its own name. Of a partition, the
            partitioned table.
        logical_reads: Pages looked up in the cache; rows, or scans and lookups, if the engine
            counts only these.
        physical_reads: Pages that were not in it.
        writes: Rows inserted, changed or deleted.
        read_ms: Time of the reads.
        bytes: Its size at the end.
    """

    relation: str
    kind: Literal["table", "index"]
    of_table: str
    logical_reads: int | None = None
    physical_reads: int | None = None
    writes: int | None = None
    read_ms: float | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Inspection:
    """What a database counted in a period.

    Attributes:
        notes: What could not be read and the exact remedy, such as a GRANT; one line each.
    """

    statements: Sequence[StatementUse] = ()
    relations: Sequence[RelationUse] = ()
    notes: Sequence[str] = ()


class Inspector(Protocol):
    """Compares the counters of a database at the ends of a period. One thread at a time uses it."""

    def begin(self) -> None:
        """Reads the counters at the start.

        Raises:
            DynoError: If the database does not respond.
        """
        ...

    def end(self) -> Inspection:
        """What was counted since ``begin`` or the previous ``end``, where the next period begins.

        After a restart or a reset of the counters, what was counted since then.

        Raises:
            DynoError: If the database does not respond.
        """
        ...

    def close(self) -> None:
        """Releases its resources. Never raises."""
        ...


@runtime_checkable
class Inspected(Protocol):
    """A target that counts by statement or relation."""

    def inspector(self) -> Inspector | None:
        """A new inspector, which opens nothing before ``begin``; None if it has none."""
        ...
