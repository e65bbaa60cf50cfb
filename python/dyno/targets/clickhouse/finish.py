"""After a load: merges the inserted parts to one per table, or one per partition.

Queries then read the same files in every run, and no background merge affects a measurement. There
are no secondary indexes: rows have one sort order, and columns are read completely.
"""

from __future__ import annotations

import threading
from typing import Any

from dyno.contracts import schema
from dyno.contracts.target import Progress
from dyno.targets import mark
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import literal, quoted
from dyno.targets.clickhouse.rows import files
from dyno.targets.steps import Steps
from dyno.targets.stoppable import stoppable
from dyno.workspace.footprint import Probe

_INTERRUPTED = "Interrupted while merging in ClickHouse."

# Merged parts remain for up to a minute and would count as table size. Dropping a partition,
# even one that does not exist, removes them at once.
_TIDY = "ALTER TABLE {table} DROP PARTITION ID 'none'"


def finish(
    session: ClickhouseConnection,
    workload: str,
    probe: Probe,
    stop: threading.Event,
    progress: Progress,
) -> dict[str, Any]:
    """Merges one table after another; those in rows have nothing to merge.

    Returns:
        Seconds per step, ``total``, and ``space`` as in the protocol.

    Raises:
        Interrupted: If ``stop`` was set.
    """
    place, rows = mark.schema_of(workload), files(session, workload)
    names = [name for name in schema.table_names(workload) if name not in rows]
    with Steps(len(names), probe, progress) as steps:
        for name in names:
            table = quoted(place, name)
            with steps.step(f"merge {name}", "merge", name, _bytes(session, place, name)):
                with stoppable(session, stop, _INTERRUPTED):
                    session.execute(f"OPTIMIZE TABLE {table} FINAL")
                session.execute(_TIDY.format(table=table))
    return steps.done()


def _bytes(session: ClickhouseConnection, place: str, table: str) -> int:
    """Bytes on disk of a table's parts, as the engine reports them."""
    return int(
        session.execute(
            "SELECT sum(bytes_on_disk) FROM system.parts "  # noqa: S608  (quoted)
            f"WHERE active AND database = {literal(place)} AND table = {literal(table)}"
        ).rows[0][0]
        or 0
    )
