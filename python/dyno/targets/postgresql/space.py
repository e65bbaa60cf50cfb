"""What a database occupies: by its files where they are on this machine, else by SQL."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

from psycopg import sql

from dyno.targets.postgresql import ddl, tablespaces
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.index import Step
from dyno.workspace.footprint import Meter, StepRecord, folder_bytes

_SIZE = {
    "cluster": "pg_total_relation_size",
    "analyse": "pg_table_size",
    "index": "pg_relation_size",
    "primary key": "pg_relation_size",
}


class Files:
    """The files of one database of the private server; its log is not counted."""

    def __init__(self, session: PostgresConnection, data: Path) -> None:
        query = "SELECT oid FROM pg_database WHERE datname = current_database()"
        oid = str(session.execute(query).rows[0][0])
        places = [
            version
            for location in tablespaces.locations(session)
            for version in location.glob("PG_*")
        ]
        self._tables = [data / "base" / oid, *(place / oid for place in places)]
        self._temporary = [folder / "pgsql_tmp" for folder in (data / "base", *places)]

    def total(self) -> int:
        """Bytes of tables, indexes and temporary files."""
        return sum(map(folder_bytes, (*self._tables, *self._temporary)))

    def temporary(self, process: int) -> int:
        """Bytes of temporary files that one server process has, its parallel workers' too."""
        found = 0
        for folder in self._temporary:
            with contextlib.suppress(OSError):
                for path in folder.glob(f"pgsql_tmp{process}.*"):
                    with contextlib.suppress(OSError):
                        size = path.stat().st_blocks * 512
                        found += folder_bytes(path) if path.is_dir() else size
        return found


class StepLog:
    """Measures the steps of an index stage, also those that go on side by side.

    A step that builds something needs its temporary files and what it builds; both are its own
    whatever else goes on. A step that writes a table anew runs alone, so that the database as
    a whole tells. Without the files there is the growth at rest, and no peak.
    """

    def __init__(self, place: str, files: Files | None, meter: Meter) -> None:
        self._place, self._files, self._meter = place, files, meter
        self._found: dict[str, dict[str, Any]] = {}

    @contextlib.contextmanager
    def around(self, step: Step, session: PostgresConnection) -> Generator[None]:
        """Measures one step, which this session runs."""
        before = self._size(session, step)
        files, pid = self._files, session.raw.info.backend_pid
        if files is None:
            probe = None
        else:
            probe = files.total if step.kind == "cluster" else lambda: files.temporary(pid)
        with self._meter.watching(probe) as peak:
            yield
        after = self._size(session, step)
        rest = None if before is None or after is None else after - before
        extra = peak.extra
        if extra is not None and step.kind == "cluster":
            # The new copy is whole before the old one goes, however short the samples fall.
            extra = max(extra, after or 0)
        elif extra is not None:
            extra += max(0, rest or 0)
        self._found[step.name] = {
            "kind": step.kind,
            "table": step.table,
            "moved_bytes": step.weight if step.kind == "cluster" else None,
            "extra_peak_bytes": extra,
            "extra_rest_bytes": rest,
            "table_bytes": step.weight or None,
        }

    def records(self, seconds: dict[str, float]) -> list[dict[str, Any]]:
        """All steps in the order in which they ended, with what they took."""
        return [
            StepRecord(step=name, seconds=seconds[name], **fields).record()
            for name, fields in self._found.items()
        ]

    def _size(self, session: PostgresConnection, step: Step) -> int | None:
        """Bytes of what the step makes or changes; 0 before it is there."""
        if step.relation is None or step.kind not in _SIZE:
            return None if step.relation is None else 0
        name = sql.Identifier(self._place, step.relation).as_string(session.raw)
        query = sql.SQL("SELECT coalesce({}(to_regclass({})), 0)").format(
            sql.SQL(_SIZE[step.kind]),  # pyright: ignore[reportArgumentType]
            sql.Literal(name),
        )
        return int(ddl.run(session, [query])[0][0])
