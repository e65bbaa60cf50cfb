"""Creates a workload's tables in a physical design, and the steps after their load."""

from __future__ import annotations

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded
from dyno.layouts import DEFAULT
from dyno.targets import mark
from dyno.targets.mysql import ddl, design, kept, layout, procedures
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.design import Present
from dyno.targets.mysql.index import Stage
from dyno.targets.mysql.volumes import Home, folder_on


def create_tables(
    session: MysqlConnection,
    server: str,
    workload: str,
    wanted: Layout | None,
    home: Home | None,
    *,
    replace: bool,
) -> None:
    """Creates the workload's tables with the keys for the load.

    Raises:
        UsageError: See the protocol; nothing was changed.
        TargetError: If a volume cannot be used, or the server rejects streamed rows.
    """
    place, tables = mark.schema_of(workload), schema.tables(workload)
    text = mark.write(workload, None)
    gone = ddl.to_replace(session, server, workload, replace=replace)
    if wanted is None:
        created = [ddl.create_table(place, table, text) for table in tables]
    else:
        layout.require(wanted, tables)
        kept.require_free(place, workload, ddl.relations(session, place))

        def folder(volume: str) -> str:
            assert home is not None  # noqa: S101  (volumes are the private server's alone)
            return str(folder_on(home, volume, "data"))

        created = [design.create_table(place, table, text, wanted, folder) for table in tables]
    ddl.replace_tables(session, place, gone, [*procedures.drops(session, workload), *created])


def loaded(session: MysqlConnection, server: str, workload: str) -> Loaded | None:  # noqa: ARG001
    """The data according to Dyno's mark; a user who can see the tables may use them."""
    return ddl.loaded(session, workload)


def stages(
    session: MysqlConnection, workload: str, wanted: Layout | None
) -> tuple[list[Stage], list[str]]:
    """The remaining steps after the load, and notes on deviations from the layout."""
    place, tables = mark.schema_of(workload), schema.tables(workload)
    known = workloads.get(workload)
    present = Present(
        ddl.index_names(session, place),
        ddl.key_columns(session, place),
        ddl.foreign_keys(session, place),
    )
    plan = wanted or Layout(name=DEFAULT, workload=workload)
    found = design.stages(place, tables, known, plan, present, session.version)
    return found, [] if wanted is None else layout.notes(wanted, tables, known.foreign_keys)
