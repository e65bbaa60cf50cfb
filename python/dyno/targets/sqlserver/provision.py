"""Creates a workload's tables in a physical design, and the steps after their load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded
from dyno.layouts import DEFAULT
from dyno.targets import mark
from dyno.targets.sqlserver import (
    database,
    ddl,
    design,
    filegroups,
    layout,
    partitions,
    procedures,
    rights,
)
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.index import Stage

_PRESENT = "SELECT OBJECT_NAME(object_id), name FROM {} WHERE name IS NOT NULL"


def create_tables(
    session: Session,
    server: str,
    workload: str,
    wanted: Layout | None,
    adopt: Callable[[Session, str], None],
    *,
    replace: bool,
) -> None:
    """Creates the workload's database, if it is missing, and its tables, all or none.

    Args:
        session: A session.
        server: The server, for messages.
        workload: The workload.
        wanted: The layout; None for the default.
        adopt: Sets the options of a new database that the run asks for.
        replace: Whether existing tables of Dyno's may be replaced.

    Raises:
        UsageError: See the protocol; nothing was changed.
        TargetError: If the server cannot use a folder of the layout.
    """
    place, tables = mark.schema_of(workload), schema.tables(workload)
    plan = wanted or Layout(name=DEFAULT, workload=workload)
    require(session, workload, plan)
    there = database.use(session, place)
    gone = ddl.to_replace(session, server, workload, replace=replace) if there else []
    if not there:
        database.create(session, workload, plan)
        adopt(session, place)
    if wanted is not None:
        filegroups.ensure(session, place, wanted)
    text = ddl.collation(session.version)
    created = [
        *procedures.drops(session, workload),
        *partitions.drop(gone),
        *design.create_tables(tables, plan, text),
    ]
    ddl.replace_tables(session, workload, gone, created)
    if there and not session.version.is_babelfish:
        filegroups.sweep(session, place, wanted)


def require(session: Session, workload: str, wanted: Layout) -> None:
    """Rejects a layout that this server cannot have, before anything is created.

    Raises:
        UsageError: With the reason.
    """
    place = mark.schema_of(workload)
    layout.require(session.version, wanted)
    filegroups.require(session, place, wanted, exists=database.exists(session, place))


def loaded(session: Session, server: str, workload: str) -> Loaded | None:
    """The data according to Dyno's mark.

    Raises:
        TargetError: If this login may not use them.
    """
    if not database.use(session, mark.schema_of(workload)):
        return None
    found = ddl.loaded(session, workload)
    rights.require_use(session, server, workload, seen=found is not None)
    return found


def stages(session: Session, workload: str, wanted: Layout | None) -> tuple[list[Stage], list[str]]:
    """The remaining steps after the load, and notes on deviations from the layout."""
    place, tables = mark.schema_of(workload), schema.tables(workload)
    database.use(session, place)
    known = workloads.get(workload)
    plan = wanted or Layout(name=DEFAULT, workload=workload)
    live = layout.require(session.version, plan)
    present = design.Present(
        _named(session, "sys.indexes"),
        _foreign_keys(session),
        _named(session, "sys.stats") if live.statistics else set(),
    )
    found = design.stages(place, tables, known, plan, present, live, _rows(session, tables))
    notes = [] if wanted is None else layout.notes(wanted, tables, known.foreign_keys, live)
    return found, notes


def _named(session: Session, view: str) -> set[tuple[str, str]]:
    rows = session.execute(_PRESENT.format(view)).rows
    return {(str(table), str(name)) for table, name in rows}


def _foreign_keys(session: Session) -> set[tuple[str, str]]:
    rows = session.execute("SELECT OBJECT_NAME(parent_object_id), name FROM sys.foreign_keys").rows
    return {(str(table), str(name)) for table, name in rows}


def _rows(session: Session, tables: list[dict[str, Any]]) -> dict[str, int]:
    """Rows of each table, as weights of its steps; none where the server does not count them."""
    counts: dict[str, int] = {}
    for name, rows in session.execute(
        "SELECT OBJECT_NAME(object_id), SUM(rows) FROM sys.partitions WHERE index_id IN (0, 1, 5) "
        "GROUP BY object_id"
    ).rows:
        counts[str(name)] = max(1, int(rows or 0))
    return {table["name"]: counts.get(table["name"], 1) for table in tables}
