"""Duplicate indexes: no two indexes have the same columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dyno.contracts.advice import IndexFacts
from dyno.decide.advise.amounts import plural, some
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DYNO
from dyno.decide.advise.system import System


def duplicates(indexes: Iterable[IndexFacts]) -> list[IndexFacts]:
    """Indexes whose columns, in this order, another index of the table has.

    Of equal ones those that enforce something stay, and else the first by name.
    """
    groups: defaultdict[tuple[str, tuple[str, ...]], list[IndexFacts]] = defaultdict(list)
    for index in indexes:
        groups[index.table, index.columns].append(index)
    found: list[IndexFacts] = []
    for group in groups.values():
        ranked = sorted(group, key=lambda one: (not one.needed, one.name))
        found += [one for one in ranked[1:] if not one.needed]
    return sorted(found, key=lambda one: (one.table, one.name))


def _check(system: System) -> Iterable[Verdict]:
    indexes = system.catalog("indexes").indexes
    found = duplicates(indexes)
    names = [f"{one.name} on {one.table}" for one in found]
    yield held(
        not found,
        f"{plural(len(found), 'duplicate')}: {some(names)}"
        if found
        else f"{plural(len(indexes), 'index', 'indexes')}, all different",
        "none",
        *(system.dialect.drop_index.format(index=one.name, table=one.table) for one in found[:5]),
    )


RULE = Rule(
    name="duplicate-indexes",
    area="care",
    scope="database",
    severity="medium",
    looks_at="columns, conditions and methods of all indexes",
    wants="no two alike on one table",
    why="Each change of a row also changes both, and both take space in the cache. The second one "
    "serves no query that the first does not.",
    source=DYNO.replace("the threshold", "the comparison"),
    study="index-build",
    check=_check,
)
