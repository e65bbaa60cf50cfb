"""Maintenance of ClickHouse: verifies the checksums of all files; reads those without any."""

from __future__ import annotations

import threading
from pathlib import Path

from dyno.bundle.model import Check
from dyno.contracts import schema
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets import mark
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.ddl import quoted
from dyno.targets.clickhouse.rows import files
from dyno.workspace.footprint import folder_bytes

LACKS = {
    "reindex": "its only index is a sparse one, written with each part; there is nothing to "
    "rebuild",
    "backup": "BACKUP writes only to paths in the server configuration, and the in-process "
    "engine has none",
    "quick-check": "CHECK TABLE has one depth: it verifies the checksum of every file",
    "create-database": "its CREATE DATABASE makes an empty directory; there is nothing to copy",
    "sliding-window": "Dyno does not switch partitions of ClickHouse yet",
    "vacuum": "its parts hold no dead rows; merges remove deleted rows",
}
_STOPPED = "The integrity check was stopped."


class ClickhouseCheck:
    """Implements the protocol. ``CHECK TABLE`` reads every file of every part of a table."""

    method = (
        "CHECK TABLE: reads every file of every part and verifies its checksum; tables in rows "
        "have none, and are read to the end"
    )
    estimate = SpaceEstimate(0, "a check writes nothing")

    def __init__(self, session: ClickhouseConnection, spill: Path, workload: str) -> None:
        self._session = session
        self._spill = spill
        self._workload = workload

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Checks every table."""
        names = schema.visible_names(self._workload)
        checks: list[Check] = []
        rows = files(self._session, self._workload)
        for number, table in enumerate(names):
            progress(number, len(names), f"check of {table}")
            if stop.is_set():
                raise Interrupted(_STOPPED)
            try:
                read = self._read if table in rows else self._check
                checks.append(read(table))
            except DynoError as error:
                if stop.is_set() or error.kind == "timeout":
                    raise Interrupted(_STOPPED) from error
                raise
        progress(len(names), len(names), "")
        return checks

    def space(self) -> int | None:
        """Bytes spilled in the directory."""
        return folder_bytes(self._spill)

    def cancel(self) -> None:
        """Stops the running check."""
        self._session.cancel()

    def close(self) -> None:
        """Ends the session."""
        self._session.close()

    def _check(self, table: str) -> Check:
        place = quoted(mark.schema_of(self._workload), table)
        try:
            parts = self._session.execute(
                f"CHECK TABLE {place} SETTINGS check_query_single_value_result = 0"
            ).rows
        except DynoError as error:
            if error.kind != "io":
                raise
            passed, message = False, str(error)
        else:
            broken = [f"part {name}: {text}" for name, whole, text in parts if not whole]
            passed = not broken
            message = broken[0] if broken else f"{len(parts):,} parts, all checksums match"
        return _check_of(table, passed=passed, message=message)

    def _read(self, table: str) -> Check:
        """Reads every value of a table in rows."""
        place = quoted(mark.schema_of(self._workload), table)
        try:
            found = self._session.execute(f"SELECT count(), sum(cityHash64(*)) FROM {place}")  # noqa: S608
        except DynoError as error:
            if error.kind != "io":
                raise
            return _check_of(table, passed=False, message=str(error))
        message = f"{int(found.rows[0][0]):,} rows are readable; a file of rows has no checksums"
        return _check_of(table, passed=True, message=message)


def _check_of(table: str, *, passed: bool, message: str) -> Check:
    name = f"integrity-check {table}"
    return Check(name=name, target="clickhouse", passed=passed, message=message)
