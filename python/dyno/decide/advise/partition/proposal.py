"""Proposals: the tables with most of the reads, each with a column, or the reason for none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dyno.config.units import bytes_text
from dyno.contracts.partitioning import Partitioning
from dyno.decide.advise.amounts import percent
from dyno.decide.advise.partition.columns import Choice, choices
from dyno.decide.advise.partition.predicates import Form
from dyno.decide.advise.partition.tables import Known
from dyno.decide.advise.partition.work import Asked, Work
from dyno.decide.advise.system import System
from dyno.decide.advise.uses import Relation, shares

LEAST_SHARE = 0.1
"""Share of the reads from which a table is a candidate, and share of its statements that a column
must restrict."""
LEAST_BYTES = 8_000_000
"""Size from which a table is a candidate: an eighth of it has 1 MB; Dyno's."""


@dataclass(frozen=True)
class Proposal:
    """What is said of a table with a large share of the reads.

    Attributes:
        name: As the counters have it.
        share: Of all reads, 0 to 1.
        bytes: With its indexes; None if unknown.
        table: None if its columns are unknown.
        choice: The column; None if partitions are not advised.
        others: Further columns, the best first.
        reason: Why none is advised; a clause.
    """

    name: str
    share: float
    bytes: int | None
    table: Known | None = None
    choice: Choice | None = None
    others: Sequence[Choice] = ()
    reason: str = ""

    @property
    def aligned(self) -> list[str]:
        """Indexes that have the column."""
        return [name for name, columns in self._indexes().items() if self._has(columns)]

    @property
    def unaligned(self) -> list[str]:
        """Indexes without the column: a search by them visits every partition."""
        return [name for name, columns in self._indexes().items() if not self._has(columns)]

    @property
    def blocking(self) -> list[str]:
        """Unique keys without the column."""
        keys = {} if self.table is None else self.table.facts.keys
        return [name for name, columns in keys.items() if not self._has(columns)]

    @property
    def indexes(self) -> list[Sequence[str]]:
        """The columns of each index."""
        return list(self._indexes().values())

    def _indexes(self) -> Mapping[str, Sequence[str]]:
        if self.table is None:
            return {}
        return {**self.table.facts.keys, **self.table.indexes}

    def _has(self, columns: Sequence[str]) -> bool:
        name = "" if self.choice is None else self.choice.column.name.lower()
        return any(plain_name(column) == name for column in columns)

    def effects(self, work: Work) -> list[tuple[Asked, float, Form | None]]:
        """The statements that read the table, with their share of it and their condition."""
        if self.table is None or self.choice is None:
            return []
        key, column = self.table.key, self.choice.column.name.lower()
        own = [one for one in work.statements if key in one.uses]
        whole = sum(one.weight for one in own)
        return [
            (one, one.weight / whole if whole else 0.0, one.uses[key].form(column)) for one in own
        ]


def chosen(found: Proposal) -> Choice:
    """The column of a proposal that has one.

    Raises:
        ValueError: If it has none.
    """
    if found.choice is None:
        raise ValueError(found.name)
    return found.choice


def plain_name(column: str) -> str:
    """A column of an index without quotes, in lower case."""
    return column.strip('"`[]').lower()


def proposals(
    system: System, known: Mapping[str, Known], work: Work, engine: Partitioning
) -> list[Proposal]:
    """One for each table with at least a tenth of the reads, the largest share first."""
    share = shares({one.name: one.reads for one in system.uses.tables})
    return [
        _proposal(one, share[one.name], known.get(one.name.lower()), system, work, engine)
        for one in system.uses.tables
        if share.get(one.name, 0.0) >= LEAST_SHARE
    ]


def _proposal(
    used: Relation,
    share: float,
    table: Known | None,
    system: System,
    work: Work,
    engine: Partitioning,
) -> Proposal:
    found = Proposal(used.name, share, used.bytes, table)
    reason = _excluded(used, table, system)
    if reason or table is None:
        return _without(found, reason)
    read = [one for one in work.statements if table.key in one.uses]
    if not read:
        return _without(found, "no statement that was counted reads it")
    ranked = choices(table, read, engine)
    if not ranked:
        return _without(found, "no statement has a condition on a column that can be cut")
    best, *others = ranked
    if best.restricted < LEAST_SHARE:
        reason = (
            f"conditions with a value are on no column in {percent(LEAST_SHARE)} of its "
            f"statements; most by {best.column.name}: {percent(best.restricted)}"
        )
        return _without(found, reason)
    return Proposal(used.name, share, used.bytes, table, best, others)


def _without(found: Proposal, reason: str) -> Proposal:
    return Proposal(found.name, found.share, found.bytes, found.table, reason=reason)


def _excluded(used: Relation, table: Known | None, system: System) -> str:
    catalog = None if system.database is None else system.database.catalog
    if used.name in system.uses.partitioned:
        return "it is partitioned already"
    if used.bytes is not None and used.bytes < LEAST_BYTES:
        return f"it has {bytes_text(used.bytes)}, less than {bytes_text(LEAST_BYTES)}"
    if table is None:
        live = "give the live TARGET" if catalog is None else "the server did not show them in time"
        return f"its columns are unknown: {live}"
    if table.facts.partition_of:
        return "it is partitioned already"
    return ""
