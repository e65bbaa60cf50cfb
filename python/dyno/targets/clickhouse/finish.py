"""What follows a load: the parts that the inserts wrote become one a table.

Queries then meet the same files in every run, and no merge in the background takes part in a
measurement. There are no secondary indexes: rows lie in the order of the key, and columns are read
whole.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from dyno import schema
from dyno.targets import mark
from dyno.targets.base import Progress
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import quoted
from dyno.targets.stoppable import stoppable

_INTERRUPTED = "Interrupted while merging in ClickHouse."


def finish(
    session: ClickhouseConnection, workload: str, stop: threading.Event, progress: Progress
) -> dict[str, Any]:
    """Merges table after table; returns seconds a step, and ``total``.

    Raises:
        Interrupted: If ``stop`` was set.
    """
    seconds: dict[str, Any] = {}
    start = time.monotonic()
    names = schema.table_names(workload)
    for number, name in enumerate(names):
        progress(number, len(names), f"merge {name}")
        began = time.monotonic()
        with stoppable(session, stop, _INTERRUPTED):
            session.execute(f"OPTIMIZE TABLE {quoted(mark.schema_of(workload), name)} FINAL")
        seconds[f"merge {name}"] = time.monotonic() - began
    progress(len(names), len(names), "")
    return {**seconds, "total": time.monotonic() - start}
