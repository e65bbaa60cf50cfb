"""The space of a database: by its files if they are on this machine, else by SQL."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import ClassVar

from psycopg import sql

from dyno.targets.postgresql import ddl, tablespaces
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.index import Step, StepLog
from dyno.workspace.footprint import Meter, Probe, folder_bytes

_SIZE = {
    "cluster": "pg_total_relation_size",
    "analyse": "pg_table_size",
    "index": "pg_relation_size",
    "primary key": "pg_relation_size",
}


class Files:
    """The files of one database of the private server, without the WAL."""

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
        """Bytes of temporary files of one server process, including its parallel workers."""
        found = 0
        for folder in self._temporary:
            with contextlib.suppress(OSError):
                for path in folder.glob(f"pgsql_tmp{process}.*"):
                    with contextlib.suppress(OSError):
                        size = path.stat().st_blocks * 512
                        found += folder_bytes(path) if path.is_dir() else size
        return found


class Sizes(StepLog):
    """Measures a step by the session's temporary files, or by all files for a table rebuild."""

    ALONE: ClassVar = frozenset({"cluster"})

    def __init__(self, meter: Meter, place: str, files: Files | None) -> None:
        super().__init__(meter)
        self._place, self._files = place, files

    def _probe(self, step: Step, session: PostgresConnection) -> Probe | None:
        if self._files is None:
            return None
        files, pid = self._files, session.raw.info.backend_pid
        return files.total if step.kind in self.ALONE else lambda: files.temporary(pid)

    def _table_bytes(self, step: Step, before: int | None) -> int | None:  # noqa: ARG002
        return step.weight

    def _size(self, step: Step, session: PostgresConnection) -> int | None:
        """Bytes of the object that the step creates or changes; 0 before it exists."""
        if step.relation is None or step.kind not in _SIZE:
            return None if step.relation is None else 0
        name = sql.Identifier(self._place, step.relation).as_string(session.raw)
        query = sql.SQL("SELECT coalesce({}(to_regclass({})), 0)").format(
            sql.SQL(_SIZE[step.kind]),  # pyright: ignore[reportArgumentType]
            sql.Literal(name),
        )
        return int(ddl.run(session, [query])[0][0])
