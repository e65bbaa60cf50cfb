"""The statements of a load without its rows, for ``dyno load --dry-run``."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.layout import Layout
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
    provision,
    rights,
)
from dyno.targets.sqlserver.connection import Session, quoted
from dyno.targets.sqlserver.version import Version

MARKS = "-- a mark on each table, as an extended property"
ROWS = "-- the rows, by bulk load"


def read(
    session: Session, server: str, workload: str, wanted: Layout | None, *, replace: bool
) -> list[str]:
    """The statements for a connected server. Changes nothing.

    Raises:
        UsageError: If the server cannot have the layout, or tables exist that may not be replaced.
        TargetError: If the login has no right to create the tables.
    """
    plan = wanted or Layout(name=DEFAULT, workload=workload)
    place, version = mark.schema_of(workload), session.version
    rights.require(session, server, workload)
    provision.require(session, workload, plan)
    if not database.use(session, place):
        first = database.primary(session, plan)
        created = database.created(workload, version, plan, first)
        return [*created, *statements(version, workload, plan)]
    gone = ddl.to_replace(session, server, workload, replace=replace)
    drops = [f"DROP TABLE {ddl.qualified(name)}" for name in gone]
    drops += procedures.drops(session, workload)
    drops += partitions.drop(gone)
    placed = plan.data_volumes() or plan.preallocate_bytes
    present = {file.group for file in filegroups.files(session, place)} if placed else set[str]()
    return [f"USE {quoted(place)}", *statements(version, workload, plan, present, drops)]


def statements(
    version: Version,
    workload: str,
    plan: Layout,
    present: Container[str] = (),
    drops: Sequence[str] = (),
) -> list[str]:
    """All statements in the database.

    Args:
        version: The server's.
        workload: The workload, with the number of its database.
        plan: The layout.
        present: Filegroups that have a file already.
        drops: What removes the tables before.
    """
    place, tables = mark.schema_of(workload), schema.tables(workload)
    live = layout.require(version, plan)
    known = workloads.get(workload)
    stages = design.stages(place, tables, known, plan, design.Present(), live)
    return [
        *_files(place, plan, present),
        *drops,
        *design.create_tables(tables, plan, ddl.collation(version)),
        MARKS,
        ROWS,
        *(step.statement for stage in stages for step in stage.steps),
    ]


def _files(place: str, plan: Layout, present: Container[str]) -> Iterator[str]:
    mib = filegroups.share_mib(plan)
    for volume in filegroups.added(plan, present):
        yield from filegroups.add_group(place, volume, mib)
    if plan.preallocate_bytes and not plan.data_volumes():
        yield filegroups.enlarge(place, place, mib)
