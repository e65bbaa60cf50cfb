"""Tables in rows: one file with whole rows one after another, without index or compression.

Such a table is a heap. A query reads all of it, in one thread, because ClickHouse does not divide a
file of rows among several (``docs/decisions/0024``).
"""

from __future__ import annotations

from pathlib import Path

from dyno.targets import mark
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import literal
from dyno.workspace.footprint import occupied


def files(session: ClickhouseConnection, workload: str) -> dict[str, Path]:
    """The tables of a workload that are in rows, with their files."""
    found = session.execute(
        "SELECT name, data_paths[1] FROM system.tables WHERE engine = 'File' "  # noqa: S608
        f"AND database = {literal(mark.schema_of(workload))}"
    ).rows
    return {str(name): Path(str(path)) for name, path in found}


def stored_bytes(session: ClickhouseConnection, workload: str) -> int:
    """Bytes on disk of the tables in rows."""
    return occupied(files(session, workload).values())
