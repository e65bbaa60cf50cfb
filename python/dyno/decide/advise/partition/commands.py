"""The engine's own commands for tables that no layout of Dyno's creates; only printed."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.contracts.partitioning import Cut, Partitioning
from dyno.decide.advise.partition.proposal import Proposal, chosen


def of(advised: Sequence[Proposal], engine: Partitioning) -> dict[str, tuple[str, ...]]:
    """Commands for tables that no layout of Dyno's creates."""
    made: dict[str, tuple[str, ...]] = {}
    for one in advised:
        if one.table is not None and one.table.load is None:
            for count in chosen(one).counts[:1]:
                cut = _cut(one, count)
                if cut is not None:
                    made[f"{one.name} in {count} partitions"] = engine.commands(cut)
    return made


def _cut(found: Proposal, count: int) -> Cut | None:
    choice, table = chosen(found), found.table
    bounds: tuple[str, ...] = ()
    if choice.method == "range":
        if count not in choice.cuts:
            return None
        texts = choice.cuts[count].texts
        quoted = choice.column.kind in ("date", "timestamp")
        bounds = tuple(f"'{text}'" if quoted else text for text in texts)
    if table is None:
        return None
    column, blocking = choice.column.name, found.blocking
    return Cut(
        table.facts.name,
        column,
        bounds,
        count,
        {
            name: (*columns, column) if name in blocking else columns
            for name, columns in table.facts.keys.items()
        },
        tuple(blocking),
        tuple(table.indexes.values()),
        table.facts.foreign_keys,
        choice.column.nullable,
        table.facts.primary_key,
        table.facts.stored,
        table.facts.rows_in,
    )
