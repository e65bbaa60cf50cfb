"""The statements that partitions are judged by, with their weight and their conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dyno import workloads
from dyno.contracts.databases import schema_of
from dyno.decide.advise.loads import Load
from dyno.decide.advise.partition.predicates import Use, uses
from dyno.decide.advise.partition.tables import Known
from dyno.decide.advise.predicates import Find
from dyno.decide.advise.statements import UnreadableError, brief, tree
from dyno.decide.advise.system import System
from dyno.targets.dialect import NEUTRAL

MOST = 300
"""Statements that are read, those with the most weight first; each takes about 2 ms."""
_WORDS = 60


@dataclass(frozen=True)
class Asked:
    """A statement that was executed.

    Attributes:
        name: Its text in short, or the query's name.
        weight: Its reads or its time.
        uses: The tables that it reads, by key.
    """

    name: str
    weight: float
    uses: Mapping[str, Use]


@dataclass(frozen=True)
class Work:
    """What was executed.

    Attributes:
        statements: With the most weight first.
        unit: What the weights are: ``reads``, ``time``, ``bytes read``, or ``one each``.
        source: Where they come from; a clause.
        unread: How many could not be parsed.
        unread_share: Their share of the weight, 0 to 1.
        left: How many were not looked at, because others have more weight.
    """

    statements: Sequence[Asked] = ()
    unit: str = "reads"
    source: str = ""
    unread: int = 0
    unread_share: float = 0.0
    left: int = 0


def of_system(system: System, known: Mapping[str, Known]) -> Work:
    """The statements that the database counted; else the queries of Dyno's workloads in it."""
    dialect = None if system.database is None else system.database.dialect
    counted = system.uses.statements
    if dialect is None or not dialect.grammar or not counted:
        return _of_workloads(system.loads, known)
    by_reads = any(one.reads for one in counted)
    find = _finder(known, {one.name.lower(): one.reads or 0 for one in system.uses.tables})
    weighed = [
        _Weighed(
            brief(one.text, _WORDS),
            one.text,
            float((one.reads if by_reads else one.ms) or 0.0),
            dialect.grammar,
            find,
        )
        for one in counted
    ]
    return _read(weighed, "reads" if by_reads else "time", "those that the database counted")


@dataclass(frozen=True)
class _Weighed:
    name: str
    text: str
    weight: float
    grammar: str
    find: Find[Known]


def _of_workloads(loads: Sequence[Load], known: Mapping[str, Known]) -> Work:
    """Those of Dyno's workloads, as a run executed them; each once if none did."""
    asked = [
        (load, query)
        for load in loads
        if (workload := workloads.known(load.database)) is not None
        for query in workload.queries
        if query.text() and (not load.queries or query.name in load.queries)
    ]
    units = {load.unit for load, _ in asked}
    unit = next(iter(units)) if len(units) == 1 else ""
    weighed = [
        _Weighed(
            query.name,
            query.text(),
            load.queries[query.name] if unit else 1.0,
            NEUTRAL,
            _within(known, schema_of(load.database)),
        )
        for load, query in asked
    ]
    names = ", ".join(dict.fromkeys(load.database for load, _ in asked))
    how = "as the run executed them" if unit else "each once"
    source = f"the queries of {names}, {how}, because the database counted no statements"
    return _read(weighed, unit or "one each", source)


def _read(weighed: list[_Weighed], unit: str, source: str) -> Work:
    weighed.sort(key=lambda one: -one.weight)
    found: list[Asked] = []
    unread = 0
    lost = 0.0
    for one in weighed[:MOST]:
        try:
            used = uses(tree(one.text, one.grammar), one.find)
        except UnreadableError:
            unread += 1
            lost += one.weight
            continue
        if used:
            found.append(Asked(one.name, one.weight, used))
    whole = sum(one.weight for one in weighed[:MOST])
    return Work(found, unit, source, unread, lost / whole if whole else 0.0, len(weighed[MOST:]))


def _finder(known: Mapping[str, Known], reads: Mapping[str, int]) -> Find[Known]:
    """Of several tables with a name, an unqualified one means that with the most reads."""
    by_name: dict[str, Known] = {}
    for one in sorted(known.values(), key=lambda one: reads.get(one.key, 0)):
        by_name[one.short] = one

    def find(place: str, name: str) -> Known | None:
        return known.get(f"{place}.{name}") if place else by_name.get(name)

    return find


def _within(known: Mapping[str, Known], schema: str) -> Find[Known]:
    """An unqualified table is in ``schema``."""
    return lambda place, name: known.get(f"{place or schema}.{name}")
