"""What follows a load: the parts that the inserts wrote become one a table, or one a partition.

Queries then meet the same files in every run, and no merge in the background takes part in a
measurement. There are no secondary indexes: rows lie in one order, and columns are read whole.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from dyno import schema
from dyno.footprint import Meter, Probe, StepRecord
from dyno.targets import mark
from dyno.targets.base import Progress
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import literal, quoted
from dyno.targets.stoppable import stoppable

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
    seconds: dict[str, Any] = {}
    space: list[dict[str, Any]] = []
    start = time.monotonic()
    place, names = mark.schema_of(workload), schema.table_names(workload)
    with Meter() as meter:
        for number, name in enumerate(names):
            step, table = f"merge {name}", quoted(place, name)
            progress(number, len(names), step)
            size = _bytes(session, place, name)
            began = time.monotonic()
            with meter.watching(probe) as peak:
                with stoppable(session, stop, _INTERRUPTED):
                    session.execute(f"OPTIMIZE TABLE {table} FINAL")
                session.execute(_TIDY.format(table=table))
            seconds[step] = time.monotonic() - began
            space.append(
                StepRecord(
                    step=step,
                    kind="merge",
                    seconds=seconds[step],
                    table=name,
                    moved_bytes=size,
                    extra_peak_bytes=peak.extra,
                    extra_rest_bytes=peak.growth,
                    table_bytes=size,
                ).record()
            )
    progress(len(names), len(names), "")
    return {**seconds, "total": time.monotonic() - start, "space": space}


def _bytes(session: ClickhouseConnection, place: str, table: str) -> int:
    """Bytes on storage of a table's parts, as the engine counts them."""
    return int(
        session.execute(
            "SELECT sum(bytes_on_disk) FROM system.parts "  # noqa: S608  (quoted)
            f"WHERE active AND database = {literal(place)} AND table = {literal(table)}"
        ).rows[0][0]
        or 0
    )
