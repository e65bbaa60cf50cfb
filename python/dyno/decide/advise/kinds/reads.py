"""Top consumers of reads: statements, tables and indexes, volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dyno.config.units import bytes_text, digits
from dyno.decide.advise.amounts import percent, stopped
from dyno.decide.advise.section import Asked, Kind, Section, Table
from dyno.decide.advise.statements import brief
from dyno.decide.advise.system import System
from dyno.decide.advise.uses import Relation, Statement, Uses, shares
from dyno.safety.text import sentence

_TITLE = "Top consumers of reads"
_SHORT = 120
_NONE = "–"


def _advise(system: System, asked: Asked) -> Section | None:
    if system.database is None:
        return None
    uses = system.uses
    notes = [f"{note[:1].upper()}{stopped(note[1:])}" for note in uses.notes]
    if not uses.any:
        closing = notes or ["Unknown: neither this database nor its devices counted reads."]
        return Section(_TITLE, closing=closing, document=_document(uses, asked.top))
    tables = [
        table
        for table in (
            _statements(uses.statements, asked.top),
            _relations("Tables with their indexes", uses.tables, asked.top),
            _relations("Tables and indexes", uses.relations, asked.top),
            _volumes(uses),
        )
        if table.rows
    ]
    what = "Reads are logical: pages looked up in the cache." if uses.pages else (
        "Reads are rows, or scans and lookups: this database does not count pages by table."
    )  # fmt: skip
    counted = what if uses.statements or uses.relations else "MB are those that the devices read."
    return Section(
        _TITLE,
        leads(uses, asked.top),
        tables,
        closing=[f"{sentence(uses.since)} {counted}", *notes],
        document=_document(uses, asked.top),
    )


def leads(uses: Uses, top: int) -> list[str]:
    """Sentences with the share of the first: ``lineitem: 70 % of the reads; …``."""
    parts: list[str] = []
    tables = shares({one.name: one.reads for one in uses.tables})
    if tables:
        name = max(tables, key=lambda one: tables[one])
        parts.append(f"{name}: {percent(tables[name])} of the reads")
    first = shares({one.name: one.reads for one in uses.statements[:top]})
    if first and uses.statements[0].reads:
        share = first[uses.statements[0].name]
        parts.append(f"statement 1: {percent(share)} of the reads of the top {len(first)}")
    volumes = shares(uses.volumes)
    if len(volumes) > 1:
        role = max(volumes, key=lambda one: volumes[one])
        parts.append(f"{role} volume: {percent(volumes[role])} of the MB read")
    return [f"{'; '.join(parts)}."] if parts else []


def _statements(found: Sequence[Statement], top: int) -> Table:
    pages = any(one.reads for one in found)
    listed = found[:top] if pages else sorted(found, key=lambda one: -(one.ms or 0))[:top]
    share = shares({one.name: one.reads if pages else one.ms for one in listed})
    columns = ("#>", "Statement", "Share>", "Calls>", "Reads>", "A call>", "min–max>", "Time>")
    rows = [
        (
            str(place),
            brief(one.text, _SHORT),
            _share(share.get(one.name, 0.0)),
            digits(one.calls),
            _number(one.reads),
            _number(one.mean),
            _NONE if one.least is None or one.most is None else _between(one.least, one.most),
            _NONE if one.ms is None else f"{digits(one.ms / 1000)} s",
        )
        for place, one in enumerate(listed, 1)
    ]
    by = "logical reads" if pages else "time"
    return Table(columns, rows, f"Top {len(rows)} statements by {by}")


def _between(least: float, most: float) -> str:
    return f"{digits(least)}–{digits(most)}"


def _relations(title: str, found: Sequence[Relation], top: int) -> Table:
    share = shares({one.name: one.reads for one in found})
    rows = [
        (
            one.name,
            one.kind,
            _share(share.get(one.name, 0.0)),
            _number(one.reads),
            _number(one.physical),
            _NONE if one.bytes is None else bytes_text(one.bytes),
        )
        for one in found[:top]
        if one.reads
    ]
    return Table(("Relation", "Kind", "Share>", "Reads>", "Not cached>", "Size>"), rows, title)


def _volumes(uses: Uses) -> Table:
    share = shares(uses.volumes)
    rows = [(role, _share(share[role]), f"{digits(uses.volumes[role])} MB") for role in share]
    return Table(("Volume", "Share>", "Read>"), rows, "Volumes by MB read")


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return _NONE if value is None else digits(value)


def _document(uses: Uses, top: int) -> dict[str, Any]:
    statements = shares({one.name: one.reads for one in uses.statements[:top]})
    tables = shares({one.name: one.reads for one in uses.tables})
    relations = shares({one.name: one.reads for one in uses.relations})
    return {
        "since": uses.since,
        "unit": "pages" if uses.pages else "rows",
        "lead": leads(uses, top),
        "statements": [
            {**asdict(one), "mean": one.mean, "share_of_top": statements.get(one.name)}
            for one in uses.statements[:top]
        ],
        "tables": [{**asdict(one), "share": tables.get(one.name)} for one in uses.tables[:top]],
        "relations": [
            {**asdict(one), "share": relations.get(one.name)} for one in uses.relations[:top]
        ],
        "volumes": [
            {"role": role, "read_mb": uses.volumes[role], "share": share}
            for role, share in shares(uses.volumes).items()
        ],
        "notes": list(uses.notes),
    }


KIND = Kind("reads", 10, _advise)
