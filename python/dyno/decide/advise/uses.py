"""Where the reads of a database go: statements, tables and indexes, and volumes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dyno.bundle.uses import Row, by_table, summed
from dyno.safety.redaction import secretless


@dataclass(frozen=True)
class Statement:
    """A statement over the whole time. Unknown values are None.

    Attributes:
        text: Without literals that may be a secret.
        reads: Logical reads, in pages.
        least, most, last: Logical reads of a call: the lowest, highest and last mean of a period.
        ms: Total time of its calls.
        plan: Its plan as text, if the engine keeps it.
    """

    name: str
    text: str
    calls: int
    reads: int | None
    physical: int | None
    least: float | None
    most: float | None
    last: float | None
    ms: float | None
    rows: int | None
    plan: str | None

    @property
    def mean(self) -> float | None:
        """Mean logical reads of a call."""
        return None if self.reads is None or not self.calls else self.reads / self.calls


@dataclass(frozen=True)
class Relation:
    """A table with its partitions and indexes, or one index or table alone."""

    name: str
    kind: str
    reads: int | None
    physical: int | None
    bytes: int | None


@dataclass(frozen=True)
class Uses:
    """What was counted.

    Attributes:
        statements, tables, relations: Those with the most reads first.
        volumes: MB read by role, of roles that devices tell apart.
        since: Of which time; a clause.
        pages: Whether reads are pages; else the engine counts rows.
        partitioned: Names of tables whose partitions are counted apart.
        notes: What could not be read, with the remedy.
    """

    statements: Sequence[Statement] = ()
    tables: Sequence[Relation] = ()
    relations: Sequence[Relation] = ()
    volumes: Mapping[str, float] = field(default_factory=dict[str, float])
    since: str = ""
    pages: bool = True
    notes: Sequence[str] = ()
    partitioned: frozenset[str] = frozenset()

    @property
    def any(self) -> bool:
        """Whether anything was counted."""
        return bool(self.statements or self.relations or self.volumes)


def of_rows(
    statements: Sequence[Row],
    relations: Sequence[Row],
    volumes: Mapping[str, float],
    since: str,
    notes: Sequence[str],
) -> Uses:
    """The uses of one target, from rows of all its periods."""
    means = _means(statements)
    (own,) = summed(statements, "statement").values() or [[]]
    (used,) = summed(relations, "relation").values() or [[]]
    called = [_statement(row, means.get(str(row["statement"]), [])) for row in own]
    pages = any(one.physical is not None for one in _relations(used)) or not used
    return Uses(
        sorted(called, key=lambda one: (-(one.reads or 0), -(one.ms or 0), one.name)),
        _relations(by_table(used)),
        _relations(used),
        volumes,
        since,
        pages,
        notes,
        frozenset(_roots(used)),
    )


def _roots(rows: Iterable[Row]) -> Iterable[str]:
    """Partitioned tables: a part names another table as its own."""
    for row in rows:
        if row["kind"] == "table" and row["of_table"] and row["of_table"] != row["relation"]:
            yield str(row["of_table"])


def _means(statements: Iterable[Row]) -> dict[str, list[float]]:
    """Mean logical reads of a call by statement, one for each period, in order."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for row in sorted(statements, key=lambda row: row["t_ns"] or 0):
        if row["calls"] and row["logical_reads"] is not None:
            found[str(row["statement"])].append(row["logical_reads"] / row["calls"])
    return found


def _statement(row: Row, means: Sequence[float]) -> Statement:
    plan: Any = row["plan"]
    return Statement(
        str(row["statement"]),
        secretless(" ".join(str(row["text"] or row["statement"]).split())),
        row["calls"] or 0,
        row["logical_reads"],
        row["physical_reads"],
        min(means, default=None),
        max(means, default=None),
        means[-1] if means else None,
        row["total_ms"],
        row["rows"],
        secretless(str(plan)) if plan else None,
    )


def _relations(rows: Iterable[Row]) -> list[Relation]:
    found = [
        Relation(
            str(row["relation"]),
            str(row["kind"] or "table"),
            row["logical_reads"],
            row["physical_reads"],
            row["bytes"],
        )
        for row in rows
    ]
    return sorted(found, key=lambda one: (-(one.reads or 0), one.name))


def shares(values: Mapping[str, float | None]) -> dict[str, float]:
    """Shares of 1 of the known values; empty if their sum is 0."""
    known = {name: value for name, value in values.items() if value is not None and value > 0}
    whole = sum(known.values())
    return {name: value / whole for name, value in known.items()} if whole else {}
