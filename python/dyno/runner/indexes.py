"""Index advice for live targets, by their planner, and for runs, as candidates of a study."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from dyno import _core, workloads
from dyno.bundle.reader import Bundle, list_bundles
from dyno.contracts import databases, schema
from dyno.contracts.advice import Catalog, IndexFacts
from dyno.contracts.hypothetical import Planning, Table, Wish
from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded, Target
from dyno.decide.advise.indexes.trial import (
    Asked,
    IndexAdvice,
    Proposal,
    Trial,
    named,
    read_all,
    wanted,
)
from dyno.decide.advise.loads import Load
from dyno.decide.advise.uses import Uses, shares
from dyno.errors import DynoError, UsageError
from dyno.layouts import DEFAULT
from dyno.targets.dialect import NEUTRAL
from dyno.workloads.rows import expected_rows

SMALL_BYTES = 1 << 18
"""Tables below it are read in full in less than a millisecond."""
TOP = 50
"""Statements whose predicates count."""
_NO_PLANNER = "{product} plans no hypothetical indexes"
_RECORDED = "a run is not connected to its database, so no planner can be asked"
_NO_STATEMENTS = "no statements are known"


def of_target(
    target: Target, product: str, uses: Uses, catalog: Catalog | None, out: Path
) -> IndexAdvice:
    """Index advice for a live target: it is asked about each candidate. Reads only."""
    workload, layout, scale = _loaded(target)
    asked, of = _asked(uses)
    neutral = not asked
    if neutral and workload:
        times = _newest_times(out, target.url.redacted, workload)
        asked = _queries(workload, target, times)
        of = "time" if times else "statements"
    written = {} if catalog is None else _writes(catalog)
    with ExitStack() as stack:
        obstacle = _NO_PLANNER.format(product=product)
        if isinstance(target, Planning):
            try:
                found = stack.enter_context(target.planner(workload))
            except DynoError as error:
                found = str(error).rstrip(".")
            if not isinstance(found, str):
                if not asked:
                    return IndexAdvice(obstacle=_NO_STATEMENTS)
                read, left_out = read_all(asked, found.dialect, found.tables)
                trial = Trial(found, read)
                wishes = wanted(read, found.indexes)
                proven = [_placed(one, found.tables) for one in trial.run(wishes)]
                return IndexAdvice(
                    proven,
                    tried=len(wishes),
                    statements=len(read),
                    how=found.how,
                    left_out={**left_out, **trial.left_out},
                    shares=of,
                    writes=written,
                )
            obstacle = found
    if not asked:
        return IndexAdvice(obstacle=obstacle)
    # The queries of a workload are neutral; a target only changes how they are written.
    asked = _queries(workload, None, {one.name: one.share for one in asked}) if neutral else asked
    if not neutral or not workload:
        return IndexAdvice(obstacle=obstacle, statements=len(asked), shares=of)
    sizes = {} if catalog is None else {one.name: one.bytes for one in catalog.tables}
    return _unproven(asked, workload, layout, obstacle, of, sizes, scale)


def of_run(bundle: Bundle, name: str, uses: Uses, loads: Sequence[Load]) -> IndexAdvice | None:
    """Candidates for the target of a run, for a study; None for a run without statements."""
    run = bundle.run
    if len(run.workloads) != 1 or workloads.known(run.workloads[0]) is None:
        return None
    (workload,) = run.workloads
    times = _times(bundle, name, workload)
    asked, of = (_queries(workload, None, times), "time") if times else _asked(uses)
    if not asked:
        return None
    recorded = run.plan.get("layout")
    try:
        layout = Layout.model_validate(recorded) if recorded != {"name": DEFAULT} else None
    except ValueError:  # an earlier version did not record it
        layout = None
    sizes = {one.name: one.bytes for one in uses.relations if one.kind == "table"}
    scale = next((one.scale for one in loads if one.database == workload), None)
    return _unproven(asked, workload, layout, _RECORDED, of, sizes, scale)


def _unproven(
    asked: Sequence[Asked],
    workload: str,
    layout: Layout | None,
    obstacle: str,
    of: str,
    sizes: Mapping[str, int | None],
    scale: float | None,
) -> IndexAdvice:
    """Candidates on the tables of a workload, as the generator declares them.

    ``sizes`` are bytes of tables, by name with the schema; ``scale`` is None if unknown.
    """
    place = databases.schema_of(workload)
    small = {
        name.removeprefix(f"{place}.")
        for name, size in sizes.items()
        if name.startswith(f"{place}.") and size is not None and size < SMALL_BYTES
    }
    tables = _tables(workload, small, _rows(workload, scale))
    read, left_out = read_all(asked, NEUTRAL, tables)
    found = [
        Proposal(named(wish), wish, definition=_definition(wish), of_workload=wish.table)
        for wish in wanted(read, _existing(workload, layout))
    ]
    return IndexAdvice(
        unproven=found, statements=len(read), obstacle=obstacle, left_out=left_out, shares=of
    )


def _definition(wish: Wish) -> str:
    """As all engines write it, in the schema of the workload; its names need no quotes."""
    return f"CREATE INDEX {named(wish)} ON {wish.table} ({', '.join(wish.columns)});"


def _rows(workload: str, scale: float | None) -> Mapping[str, int]:
    """Rows of tables at a scale; empty if it is unknown, or none of the generator's."""
    try:
        found = {} if scale is None else expected_rows(workload, Loaded(scale, 1, True))
    except _core.EngineError:
        return {}
    return {name: rows for name, (rows, _) in found.items()}


def _tables(workload: str, small: Container[str], rows: Mapping[str, int]) -> list[Table]:
    return [
        Table(
            table["name"],
            "",
            table["name"],
            tuple(column["name"] for column in table["columns"]),
            0 if table["name"] in small else rows.get(table["name"]),
        )
        for table in schema.tables(workload)
    ]


def _existing(workload: str, layout: Layout | None) -> list[IndexFacts]:
    """The keys and indexes of a layout; of the default one without."""
    found: list[IndexFacts] = []
    if layout is None or layout.primary_keys:
        found += [
            IndexFacts(f"{table['name']}_pkey", table["name"], tuple(table["primary_key"]), True)
            for table in schema.tables(workload)
            if table["primary_key"]
        ]
    if layout is None or layout.secondary:
        found += [
            IndexFacts(one.name, one.table, tuple(one.columns))
            for one in workloads.get(workload).indexes
        ]
    if layout is not None:
        found += [
            IndexFacts(one.name, table, tuple(one.columns))
            for table, design in layout.tables.items()
            for one in design.indexes
            if one.form == "row"
        ]
    return found


def _asked(uses: Uses) -> tuple[list[Asked], str]:
    """The statements with most reads, with their shares; by time where reads are not counted."""
    found = list(uses.statements)
    by_reads = shares({one.name: one.reads for one in found})
    by = by_reads or shares({one.name: one.ms for one in found})
    asked = [Asked(one.name, one.text, by[one.name]) for one in found if one.name in by]
    asked.sort(key=lambda one: -one.share)
    return asked[:TOP], "reads" if by_reads else "time"


def _queries(workload: str, target: Target | None, times: Mapping[str, float]) -> list[Asked]:
    """The queries of a workload, in the words of a target, by time; else alike."""
    queries = [one for one in workloads.get(workload).queries if one.text()]
    by = shares({one.name: times.get(one.name) for one in queries}) if times else {}
    alike = 1 / len(queries) if queries else 0.0
    found: list[Asked] = []
    for one in queries:
        values = one.validation(1.0)
        text = one.text(values) if target is None else one.text_for(target, workload, values)
        found.append(Asked(one.name, text, by.get(one.name, 0.0) if by else alike))
    return sorted(found, key=lambda one: -one.share)


def _times(bundle: Bundle, target: str, workload: str) -> dict[str, float]:
    """Seconds of all executions of each query of a workload, of those that succeeded."""
    found: dict[str, float] = {}
    for row in bundle.table("queries").to_pylist():
        meant = row["target"] == target and row["workload"] in (None, workload)
        if meant and row["seconds"] and not row["error"]:
            found[str(row["query"])] = found.get(str(row["query"]), 0.0) + float(row["seconds"])
    return found


def _newest_times(out: Path, url: str, workload: str) -> dict[str, float]:
    """Those of the newest run of a workload on a target under ``out``."""
    for bundle in list_bundles(out):
        own = [name for name, facts in bundle.run.targets.items() if facts.url == url]
        if workload in bundle.run.workloads and own:
            try:
                found = _times(bundle, own[0], workload)
            except UsageError:  # a damaged table
                continue
            if found:
                return found
    return {}


def _loaded(target: Target) -> tuple[str, Layout | None, float | None]:
    """The workload with queries whose complete data is in a target, its layout and its scale.

    The name is empty without one; the layout is None for the default one.
    """
    for name in workloads.names():
        if not workloads.get(name).queries:
            continue
        try:
            found = target.loaded(name)
        except DynoError:
            continue
        if found is not None and found.complete:
            layout = Layout.model_validate_json(found.layout) if found.layout else None
            return name, layout, found.scale
    return "", None, None


def _placed(one: Proposal, tables: Sequence[Table]) -> Proposal:
    """The proposal, with the table of a workload that a layout can name."""
    table = next(each for each in tables if each.name == one.wish.table)
    known = databases.in_schemas(workloads.names(), [table.schema]) if table.schema else []
    names = [databases.workload_of(name) for name in known] or workloads.names()
    for name in names:
        declared = {each["name"]: each for each in schema.tables(name)}
        columns = declared.get(table.table, {}).get("columns", ())
        if {column["name"] for column in columns} == {*table.columns} and (
            known or not table.schema
        ):
            return replace(one, of_workload=table.table)
    return one


def _writes(catalog: Catalog) -> dict[str, int]:
    """Rows written by table, in the names of the catalog."""
    plain = {table.name.replace('"', ""): table.name for table in catalog.tables}
    return {
        plain.get(one.relation, one.relation): one.writes
        for one in catalog.uses.relations
        if one.kind == "table" and one.writes is not None
    }
