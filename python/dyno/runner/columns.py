"""What advice on column stores needs of a database: columns, changes, bounded samples."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from dyno.bundle import metrics
from dyno.bundle.reader import list_bundles
from dyno.bundle.writer import Recorder
from dyno.contracts.advice import Advised, Catalog, TableFacts
from dyno.contracts.stored_columns import Columned, ColumnReader
from dyno.contracts.target import Target
from dyno.decide.advise.columnstore.build import built
from dyno.decide.advise.columnstore.candidates import worth_a_sample
from dyno.decide.advise.columnstore.memory import least_free
from dyno.decide.advise.columnstore.recorded import rows_of
from dyno.decide.advise.columnstore.view import ColumnView, TableColumns, plain_name
from dyno.decide.advise.uses import Uses, shares
from dyno.errors import DynoError
from dyno.targets.defaults import BOTH_FORMS

MOST_TABLES, MOST_SAMPLES = 12, 3
"""Tables whose columns are read: the most read and the largest; and those that are sampled."""
SAMPLE_ROWS, SAMPLE_BYTES = 20_000, 16e6


def view(target: Target, catalog: Catalog | None, uses: Uses, out: Path) -> ColumnView | None:
    """The columns of a live database; None if its target does not read them.

    Raises:
        DynoError: If the database does not respond.
    """
    if catalog is None or not isinstance(target, Columned):
        return None
    free, run = _free(out, target)
    found = _read(target, catalog, uses, samples=MOST_SAMPLES)
    return dataclasses.replace(found, free_bytes=free, run=run)


def record(recorder: Recorder, target: Target) -> None:
    """Writes the statistics that a database has of its columns to the bundle. Samples nothing.

    A database that does not respond is recorded (``inspection-failed``) and stops nothing.
    """
    if not isinstance(target, Columned) or not isinstance(target, Advised):
        return
    common = {"t_ns": recorder.clock.unix_now_ns(), "target": target.name}
    try:
        found = _read(target, target.catalog(), Uses(), samples=0)
        recorder.add("columns", [common | row for row in rows_of(found)])
    except DynoError as error:
        with contextlib.suppress(DynoError):  # the disk is full: the run reports that itself
            recorder.event("inspection-failed", target=target.name, reason=str(error))


def _read(target: Columned, catalog: Catalog, uses: Uses, samples: int) -> ColumnView:
    counted_s = catalog.counters.get("counted_s")
    share = shares({one.name: one.reads for one in uses.tables})
    tables: list[TableColumns] = []
    with closing(target.column_reader()) as reader:
        for parts in _first(catalog.tables, share):
            found = _described(reader, parts)
            own = share.get(plain_name(found.name), 0.0) if share else None
            if samples and worth_a_sample(found, counted_s, own):
                found, samples = _with_sample(reader, parts[0].name, found), samples - 1
            tables.append(found)
        return ColumnView(reader.column_store(), reader.sql, BOTH_FORMS, tables, counted_s)


def _first(tables: Sequence[TableFacts], share: dict[str, float]) -> list[list[TableFacts]]:
    """The tables to look at, each with its partitions, the largest of these first."""
    wholes: defaultdict[str, list[TableFacts]] = defaultdict(list)
    for table in tables:
        wholes[table.partition_of or table.name].append(table)
    for parts in wholes.values():
        parts.sort(key=lambda part: -(part.bytes or 0))
    first = sorted(
        wholes, key=lambda name: (-share.get(plain_name(name), 0.0), -_sum(wholes[name], "bytes"))
    )
    return [wholes[name] for name in first[:MOST_TABLES]]


def _sum(parts: Sequence[TableFacts], what: str) -> int:
    return sum(getattr(part, what) or 0 for part in parts)


def _described(reader: ColumnReader, parts: Sequence[TableFacts]) -> TableColumns:
    first = parts[0]
    name = first.partition_of or first.name
    table = TableColumns(name, _sum(parts, "bytes"), _sum(parts, "rows"), of_rows=first.rows)
    try:
        counts = [reader.changed(part.name) for part in parts]
        known = [count for count in counts if count is not None]
        changed = sum(known) if len(known) == len(counts) else None
        return dataclasses.replace(
            table, columns=tuple(reader.columns(first.name)), changed=changed
        )
    except DynoError as error:
        return dataclasses.replace(table, problem=_clause(error))


def _with_sample(reader: ColumnReader, name: str, table: TableColumns) -> TableColumns:
    wanted = [one.name for one in table.columns if not one.large]
    row = (table.bytes or 0) / (table.rows or 1)
    rows = min(SAMPLE_ROWS, int(SAMPLE_BYTES // max(1.0, row)))
    try:
        found = built(reader.sample(name, wanted, rows)) if wanted and rows else None
    except DynoError as error:
        return dataclasses.replace(table, problem=_clause(error))
    return dataclasses.replace(table, built=found)


def _clause(error: DynoError) -> str:
    return str(error).rstrip(".")


def _free(out: Path, target: Target) -> tuple[float | None, str]:
    """The least available memory of the newest run of this database in ``out``."""
    from dyno.analyse.resources import resources  # a recorder needs no analysis

    for bundle in list_bundles(out):
        run = bundle.run
        facts = run.targets.get(target.name)
        if bundle.measured and facts is not None and facts.url == target.url.redacted:
            known = metrics.Estimates(resources(bundle))
            return least_free(run, target.name, known), run.run
    return None, ""
