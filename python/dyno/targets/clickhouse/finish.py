"""What follows a load: the parts that the inserts wrote become one a table, or one a partition.

Queries then meet the same files in every run, and no merge in the background takes part in a
measurement. There are no secondary indexes: rows lie in one order, and columns are read whole.
"""

from __future__ import annotations

import threading
from typing import Any

from dyno.contracts import schema
from dyno.contracts.target import Progress
from dyno.targets import mark
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import literal, quoted
from dyno.targets.steps import Steps
from dyno.targets.stoppable import stoppable
from dyno.workspace.footprint import Probe

_INTERRUPTED = "Interrupted while merging in ClickHouse."

# Merged parts stay for up to a minute, and would be counted with what the table takes at rest.
# Dropping a partition, be it none, removes them at once.
_TIDY = "ALTER TABLE {table} DROP PARTITION ID 'none'"


def finish(
    session: ClickhouseConnection,
    workload: str,
    probe: Probe,
    stop: threading.Event,
    progress: Progress,
) -> dict[str, Any]:
    """Merges table after table.

    Returns:
        Seconds a step, ``total``, and ``space`` as the protocol says.

    Raises:
        Interrupted: If ``stop`` was set.
    """
    place, names = mark.schema_of(workload), schema.table_names(workload)
    with Steps(len(names), probe, progress) as steps:
        for name in names:
            table = quoted(place, name)
            with steps.step(f"merge {name}", "merge", name, _bytes(session, place, name)):
                with stoppable(session, stop, _INTERRUPTED):
                    session.execute(f"OPTIMIZE TABLE {table} FINAL")
                session.execute(_TIDY.format(table=table))
    return steps.done()


def _bytes(session: ClickhouseConnection, place: str, table: str) -> int:
    """Bytes on storage of a table's parts, as the engine counts them."""
    return int(
        session.execute(
            "SELECT sum(bytes_on_disk) FROM system.parts "  # noqa: S608  (quoted)
            f"WHERE active AND database = {literal(place)} AND table = {literal(table)}"
        ).rows[0][0]
        or 0
    )
