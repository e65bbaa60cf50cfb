"""MariaDB or MySQL as a target: a private MariaDB of Dyno's own, or a server at a URL."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from dyno import schema, workloads
from dyno.errors import DynoError
from dyno.layouts.model import Layout
from dyno.model import TargetFacts
from dyno.targets import mark
from dyno.targets.base import (
    Capabilities,
    Connection,
    Limits,
    Loaded,
    LoadOutcome,
    LoadPlan,
    Progress,
    TargetUrl,
)
from dyno.targets.dialect import translate
from dyno.targets.insert import insert_values
from dyno.targets.mysql import ddl, facts, index
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection, literal
from dyno.targets.mysql.server import USER, Server

_NO_OLTP = "the transaction driver does not speak MySQL's protocol yet"
_NO_TLS = "the URL demands TLS, which the loader does not speak yet"
_SERVER_GONE = {"connection_lost", "unreachable"}


class MysqlTarget:
    """See the protocol. Tables of a workload lie in the database ``dyno_<workload>``."""

    name = "mysql"

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        self._limits = limits
        self._server: Server | None = None
        self._local: tuple[Path, int] | None = None
        if url.scheme == "embedded":
            self._server = Server((out / "engines" / self.name).resolve(), limits)
            self._address = Address("localhost", 0, USER)
        else:
            self._address = Address.parse(url)
        tls = self._address.tls is not None
        self.capabilities = Capabilities(oltp=_NO_OLTP, load=_NO_TLS if tls else True)

    def __enter__(self) -> MysqlTarget:
        """Starts the private server, or checks that the one at the URL can be used.

        Raises:
            TargetError: If it cannot.
        """
        if self._server is not None:
            self._server.start()
            self._address = changed(self._address, unix_socket=str(self._server.socket))
            return self
        with closing(self.connect()) as session:
            self._local = facts.on_this_machine(session, self._address)
        return self

    def __exit__(self, *exc: object) -> None:
        """Stops the private server."""
        if self._server is not None:
            self._server.stop()

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        with closing(self.connect()) as session:
            return facts.read(session, self.url, self._address)

    def connect(self, workload: str = "") -> MysqlConnection:
        """A new session; plain table names in it mean those of ``workload``."""
        database = mark.schema_of(workload) if workload else ""
        return MysqlConnection.open(self._address, self._explain, database)

    def create_tables(
        self,
        workload: str,
        *,
        replace: bool,
        layout: Layout | None = None,  # noqa: ARG002  (none but its own)
    ) -> None:
        """Creates the workload's tables with their primary keys, without other indexes."""
        with closing(self.connect()) as session:
            ddl.create_tables(session, self._address.server, workload, replace=replace)

    def loaded(self, workload: str) -> Loaded | None:
        """What is loaded, by Dyno's mark."""
        with closing(self.connect()) as session:
            return ddl.loaded(session, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect()) as session:
            ddl.set_mark(session, workload, loaded)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates the rows and streams them in, by the compiled loader."""
        from dyno import _core

        request = {
            "wire": self.wire(plan.workload),
            "workload": plan.workload,
            "scale": plan.scale,
            "seed": plan.seed,
            "streams": plan.streams,
            "tables": list(plan.tables) or schema.table_names(plan.workload),
        }
        try:
            outcome = json.loads(_core.load(json.dumps(request), control))
        except _core.EngineError as error:
            reason = self._explain() if error.args[0] in _SERVER_GONE else None
            if reason is None:
                raise
            raise reason from error
        return LoadOutcome(
            tuple(outcome["tables"]), outcome["seconds"], outcome["rows"], outcome["bytes"]
        )

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:  # noqa: ARG002
        """Adds generated rows by INSERT."""
        return insert_values(connection, rows, literal)

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Adds the indexes and gathers statistics; the keys came with the tables.

        Returns:
            Seconds a step, and ``total``.
        """
        start = time.monotonic()
        place = mark.schema_of(workload)
        with closing(self.connect()) as session:
            present = ddl.index_names(session, place)
            version = session.version
        build = index.build_steps(place, workloads.get(workload).indexes, present)
        analyze = index.analyze_steps(place, schema.tables(workload), version)
        indexer = index.Indexer(self.connect, self._limits.threads, control, progress)
        indexer.expect(len(build) + len(analyze))
        indexer.run(build)
        indexer.run(analyze)
        return {**indexer.seconds, "total": time.monotonic() - start}

    def wire(self, workload: str = "") -> dict[str, Any]:
        """How the Rust loader reaches it; plain table names there mean those of ``workload``."""
        database = mark.schema_of(workload) if workload else self._address.database
        return {**self._address.wire(), "database": database}

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """The neutral statement in MySQL's words."""
        return translate(neutral, "mysql")

    def data_paths(self) -> list[Path]:
        """The server's data folder, if it lies on this machine."""
        if self._server is not None:
            return [self._server.data]
        return [] if self._local is None else [self._local[0]]

    def process_ids(self) -> list[int]:
        """The server's process, if it is one of this machine."""
        if self._server is not None:
            return [] if self._server.pid is None else [self._server.pid]
        return [] if self._local is None else [self._local[1]]

    def _explain(self) -> DynoError | None:
        return None if self._server is None else self._server.died()
