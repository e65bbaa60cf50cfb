"""Creates a workload's tables in a physical design, and the steps after their load."""

from __future__ import annotations

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded
from dyno.targets import mark
from dyno.targets.postgresql import (
    ddl,
    design,
    layout,
    leftovers,
    privilege,
    procedures,
    tablespaces,
)
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.index import Stage, build_steps, vacuum_steps


def create_tables(
    session: PostgresConnection,
    server: str,
    workload: str,
    wanted: Layout | None,
    home: tablespaces.Home | None,
    *,
    replace: bool,
) -> None:
    """Creates the workload's tables, all or none, and removes what a former layout used.

    Raises:
        UsageError: See the protocol; nothing was changed.
        TargetError: If a volume cannot be used.
    """
    place = mark.schema_of(workload)
    tables = schema.tables(workload)
    names = [table["name"] for table in tables]
    parts = [
        part
        for name in names
        if wanted is not None
        for part in design.stored(wanted, name)
        if part != name
    ]
    gone = ddl.to_replace(session, server, workload, parts, replace=replace)
    if wanted is None:
        created = [ddl.create_table(place, table) for table in tables]
    else:
        live = layout.require(session, wanted)
        tablespaces.ensure(session, wanted, live, home)
        created = design.create_tables(place, tables, wanted, live)
    created = [*procedures.drops(session, workload), *created]
    ddl.replace_tables(session, workload, gone, created, [*names, *parts])
    tablespaces.sweep(session, wanted, home.path if home else None)


def loaded(session: PostgresConnection, server: str, workload: str) -> Loaded | None:
    """The data according to Dyno's mark.

    Raises:
        TargetError: If another role loaded it, and this one may not use it.
    """
    found = ddl.loaded(session, workload)
    if found is not None:
        privilege.require_use(session, server, workload)
    return found


def stages(
    session: PostgresConnection, workload: str, wanted: Layout | None
) -> tuple[list[Stage], list[str]]:
    """The steps after the load, and notes on deviations from the layout."""
    place = mark.schema_of(workload)
    tables = schema.tables(workload)
    sizes = ddl.sizes(session, place)
    if wanted is not None:
        known = workloads.get(workload)
        keys = {table["name"]: list(table["primary_key"]) for table in tables}
        version = session.raw.info.server_version
        every = [part for name in keys for part in (name, *design.stored(wanted, name))]
        leftovers.remove(session, place, every)
        found = design.stages(place, tables, known, wanted, sizes, version)
        deviations = layout.notes(wanted, keys, known.foreign_keys)
        return found, [*deviations, *_unlogged(session)]
    indexes = workloads.get(workload).indexes
    present = ddl.index_names(session, place)
    keyed = ddl.key_names(session, place)
    build = build_steps(place, tables, indexes, sizes, present, keyed)
    return [Stage(build), Stage(vacuum_steps(place, tables, sizes))], _unlogged(session)


def _unlogged(session: PostgresConnection) -> list[str]:
    """A note if the server logs less than one with replicas would."""
    if session.execute("SHOW wal_level").rows[0][0] != "minimal":
        return []
    return [
        "With wal_level = minimal, the log has almost nothing of new indexes; a server with "
        "replicas or archiving logs them entirely."
    ]
