"""Column store: candidate tables, what excludes the others, and what it costs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dyno import workloads
from dyno.config.units import bytes_text, digits
from dyno.contracts.advice import Dialect
from dyno.contracts.databases import schema_of
from dyno.decide.advise.amounts import percent, plural, some, stopped
from dyno.decide.advise.columnstore.build import METHOD
from dyno.decide.advise.columnstore.candidates import Candidate, judged
from dyno.decide.advise.columnstore.memory import BuildMemory, build_memory
from dyno.decide.advise.columnstore.selective import Indexed, Lookup, lookups
from dyno.decide.advise.columnstore.view import ColumnView, plain_name
from dyno.decide.advise.section import Asked, Kind, Section, Table, Variant
from dyno.decide.advise.statements import brief
from dyno.decide.advise.system import Database, GapError, System
from dyno.decide.advise.uses import shares
from dyno.safety.text import sentence
from dyno.studies.form import LAYOUT

TITLE = "Column store"
STUDY = "columnstore-tables"
LAYOUTS = {"columnar-1": "lineitem", "columnar-2": "lineitem and orders"}
"""Layouts of the study, with the tables of TPC-H that they store in columns."""
_NONE = "–"
_SHORT = 90


def _advise(system: System, asked: Asked) -> Section | None:
    view = system.columns
    if system.database is None:
        return None
    if view is None:
        return None if system.db.dialect is None else _nothing(system.db, system.db.dialect)
    share = shares({one.name: one.reads for one in system.uses.tables})
    tables = judged(view, share)
    if not tables:
        return None
    chosen = [one for one in tables if not one.exclusions]
    columns = max((_width(one) for one in chosen), default=0)
    memory = build_memory(columns, _parallel(system), view.free_bytes) if chosen else None
    found, unread = lookups(system.uses.statements, _indexed(system, chosen), view.sql)
    variants = _variants(chosen, view)
    return Section(
        TITLE,
        _lead(system, view, chosen),
        [
            *([_candidates(chosen)] if chosen else []),
            *([_excluded(tables)] if len(chosen) < len(tables) else []),
            *([_slower(found, asked.top)] if found else []),
        ],
        closing=_closing(view, chosen, memory, unread),
        document=_document(view, tables, memory, found, unread, variants),
        variants=variants,
    )


def _nothing(database: Database, words: Dialect) -> Section:
    reason = words.columnar
    if not reason:
        live = database.address.replace(":***@", "@")
        reason = f"this run did not record its columns: `dyno advise {live}` reads them"
        reason = "it does not show its tables" if database.live else reason
    document = {"reason": reason, "tables": [], "variants": []}
    return Section(TITLE, [sentence(f"not judged: {reason}")], document=document)


def _width(one: Candidate) -> int:
    """Columns of a build."""
    return len(one.table.columns) - len(one.without)


def _parallel(system: System) -> int:
    """Threads of a build: the workers of a query and its session, or all CPUs."""
    with contextlib.suppress(GapError):
        return 1 + int(system.amount("parallel"))
    with contextlib.suppress(GapError):
        return system.cpus
    return 1


def _lead(system: System, view: ColumnView, chosen: Sequence[Candidate]) -> list[str]:
    if not chosen:
        return ["No table is a candidate for a column store."]
    names = some([plain_name(one.table.name) for one in chosen])
    shared = [one.share for one in chosen if one.share is not None]
    reads = f", {percent(sum(shared))} of the reads" if shared else ""
    lines = [f"{plural(len(chosen), 'candidate')}: {names}{reads}."]
    if view.needs:
        lines.append(stopped(f"{system.db.product} cannot store columns here: {view.needs}"))
    return lines


def _candidates(chosen: Sequence[Candidate]) -> Table:
    rows = [
        (
            plain_name(one.table.name),
            *_facts(one),
            _NONE if one.ratio is None else f"{one.ratio:.1f} : 1",
            f"{_width(one)} of {len(one.table.columns)}",
        )
        for one in chosen
    ]
    names = ("Table", "Reads>", "Size>", "Rows>", "Repeated>", "Changed/day>")
    return Table((*names, "Compression>", "Columns>"), rows, "Candidates")


def _facts(one: Candidate) -> tuple[str, ...]:
    mark = " *" if one.sampled else ""
    return (
        _percent(one.share),
        _NONE if one.table.bytes is None else bytes_text(one.table.bytes),
        _NONE if one.table.rows is None else digits(one.table.rows),
        f"{_percent(one.repeated)}{mark}" if one.repeated is not None else _NONE,
        _percent(one.changed_a_day),
    )


def _percent(share: float | None) -> str:
    return _NONE if share is None else percent(share)


def _excluded(tables: Sequence[Candidate]) -> Table:
    rows = [
        (
            plain_name(one.table.name),
            _NONE if one.table.bytes is None else bytes_text(one.table.bytes),
            "; ".join(reason.reason for reason in one.exclusions),
        )
        for one in tables
        if one.exclusions
    ]
    return Table(("Table", "Size>", "Why not"), rows, "Not candidates")


def _slower(found: Sequence[Lookup], top: int) -> Table:
    rows = [
        (
            brief(one.statement.text, _SHORT),
            digits(one.statement.calls),
            one.table,
            ", ".join(one.by),
            "one row" if one.unique else "few rows",
        )
        for one in found[:top]
    ]
    title = "Statements that get slower: they look up rows by a key"
    return Table(("Statement", "Calls>", "Table", "By", "Reads"), rows, title)


def _closing(
    view: ColumnView, chosen: Sequence[Candidate], memory: BuildMemory | None, unread: int
) -> list[str]:
    lines: list[str] = []
    built = [one.table.built for one in chosen if one.table.built is not None]
    if built:
        rows = max(one.rows for one in built)
        lines.append(
            f"Compression is expected, not measured in the engine: {METHOD} from a sample of at "
            f"most {digits(rows)} rows, against bytes of a row in the table."
        )
    if view.sampled_by:
        lines.append(
            f"A run takes no sample of its tables. {view.sampled_by} takes one: for compression, "
            "and for the repeated values of columns without statistics."
        )
    if any(one.sampled for one in chosen):
        lines.append("* From the sample alone; more rows repeat more values.")
    if memory is not None:
        lines.append(_memory(view, memory))
    if unread:
        lines.append(f"{plural(unread, 'statement')} could not be parsed.")
    if chosen:
        lines.append(sentence(f"measure it here with dyno study {STUDY}"))
    return lines


def _memory(view: ColumnView, memory: BuildMemory) -> str:
    threads = plural(memory.parallel, "thread")
    text = f"Memory to build the widest: {bytes_text(memory.bytes)} with {threads} (8 MB a column)"
    if memory.free is None:
        return f"{text}; no run of this database here measured its memory."
    free = f"{bytes_text(memory.free)} were free at the peak of run {view.run}"
    if memory.fits is not None and memory.fits < memory.parallel:
        return f"{text}; {free}: build it with {plural(memory.fits, 'thread')}."
    return f"{text}; {free}."


def _indexed(system: System, chosen: Sequence[Candidate]) -> list[Indexed]:
    catalog = system.db.catalog
    found: list[Indexed] = []
    for one in chosen:
        of_it = [
            index
            for index in (() if catalog is None else catalog.indexes)
            if index.table == one.table.name
        ]
        names = frozenset(column.name for column in one.table.columns)
        primary = frozenset(column.name for column in one.table.columns if column.key)
        unique = [
            frozenset(index.columns)
            for index in of_it
            if index.needed and set(index.columns) <= names
        ]
        keys = tuple(dict.fromkeys(key for key in (primary, *unique) if key))
        leading = frozenset(index.columns[0] for index in of_it if index.columns) & names
        found.append(Indexed(plain_name(one.table.name), names, keys, leading))
    return found


def _variants(chosen: Sequence[Candidate], view: ColumnView) -> list[Variant]:
    """The variants of the study. Without a column store here, on an engine of Dyno's own."""
    at = {"target": view.engine} if view.needs else {}
    found: list[Variant] = []
    for count, (layout, tables) in enumerate(LAYOUTS.items(), 1):
        names = [plain_name(one.table.name) for one in chosen[:count]]
        own = any(
            {f"{schema_of(name)}.{one}" for one in tables.split(" and ")} == set(names)
            for name in workloads.names()
        )
        stand_in = "" if own else f" The study has {tables} of TPC-H in place of it."
        if len(names) == count:
            changes = {**at, LAYOUT: layout}
            why = f"Columnar storage suits {some(names)}.{stand_in}"
            found.append(Variant(f"{tables} in columns", changes, why))
    return found


def _document(
    view: ColumnView,
    tables: Sequence[Candidate],
    memory: BuildMemory | None,
    found: Sequence[Lookup],
    unread: int,
    variants: Sequence[Variant],
) -> dict[str, Any]:
    return {
        "reason": None,
        "needs": view.needs or None,
        "tables": [_described(one) for one in tables],
        "memory": None if memory is None else {**asdict(memory), "run": view.run or None},
        "slower": [
            {
                "statement": one.statement.name,
                "text": one.statement.text,
                "calls": one.statement.calls,
                "table": one.table,
                "by": list(one.by),
                "unique": one.unique,
            }
            for one in found
        ],
        "unparsed": unread,
        "study": STUDY,
        "variants": [
            {"name": one.name, "changes": dict(one.changes), "why": one.why} for one in variants
        ],
    }


def _described(one: Candidate) -> dict[str, Any]:
    sample = one.table.built
    return {
        "name": plain_name(one.table.name),
        "candidate": not one.exclusions,
        "exclusions": [asdict(reason) for reason in one.exclusions],
        "share": one.share,
        "bytes": one.table.bytes,
        "rows": one.table.rows,
        "repeated": one.repeated,
        "repeated_of_sample": one.sampled,
        "changed_a_day": one.changed_a_day,
        "compression": None
        if one.ratio is None or sample is None
        else {"ratio": one.ratio, "method": METHOD, "rows": sample.rows},
        "columns": [asdict(column) for column in one.table.columns],
        "without": list(one.without),
    }


KIND = Kind("columnstore", 40, _advise)
