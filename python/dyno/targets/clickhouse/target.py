"""ClickHouse as a target: a column store in a directory, in a process of Dyno's own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from dyno.errors import TargetError, UsageError
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
from dyno.targets.clickhouse import ddl, queries, settings
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.engine import Engine
from dyno.targets.clickhouse.finish import finish
from dyno.targets.clickhouse.load import load
from dyno.targets.clickhouse.place import locate, prepare

_NO_TRANSACTIONS = "ClickHouse is not driven with transactions: it has none over several statements"

_NO_REFRESH = "ClickHouse has no transactions over several statements and tables"


class ClickhouseTarget:
    """See the protocol. Tables of a workload lie in the database ``dyno_<workload>``."""

    name = "clickhouse"

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        self.capabilities = Capabilities(oltp=_NO_TRANSACTIONS, refresh=_NO_REFRESH)
        self._limits = limits
        self._folder = locate(url, out)
        self._engine: Engine | None = None

    def __enter__(self) -> ClickhouseTarget:
        """Starts the engine on the directory.

        Raises:
            TargetError: If chdb is not installed, the directory is not ClickHouse's, or another
                process has it open.
        """
        prepare(self._folder, private=self.url.scheme == "embedded")
        self._engine = Engine(self._folder, settings.engine_options(self._limits))
        return self

    def __exit__(self, *exc: object) -> None:
        """Ends the engine."""
        if self._engine is not None:
            self._engine.stop()
            self._engine = None

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        ours = [*settings.session_settings(self._limits)]
        names = ", ".join(ddl.literal(name) for name in ours)
        engine = ", ".join(ddl.literal(name) for name in settings.engine_options(self._limits))
        with closing(self.connect()) as session:
            shown = session.execute(
                f"SELECT name, value FROM system.settings WHERE name IN ({names}) "  # noqa: S608
                f"UNION ALL SELECT name, value FROM system.server_settings "
                f"WHERE name IN ({engine}) ORDER BY name"
            ).rows
            version = str(session.execute("SELECT version()").rows[0][0])
        return TargetFacts(
            url=self.url.redacted,
            local=True,
            version=f"ClickHouse {version} (chdb)",
            settings={str(name): str(value) for name, value in sorted(shown)},
        )

    def connect(self, workload: str = "") -> ClickhouseConnection:
        """A new session; plain table names in it mean those of ``workload``.

        Raises:
            TargetError: If the workload has no database here, since nothing of it was loaded.
        """
        return self._session(workload)

    def create_tables(
        self,
        workload: str,
        *,
        replace: bool,
        layout: Layout | None = None,  # noqa: ARG002  (none but its own)
    ) -> None:
        """Creates the workload's tables, ordered by their keys (see the protocol)."""
        with closing(self.connect()) as session:
            ddl.create_tables(session, str(self._folder), workload, replace=replace)

    def loaded(self, workload: str) -> Loaded | None:
        """What is loaded, by Dyno's mark."""
        with closing(self.connect()) as session:
            return ddl.loaded(session, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect()) as session:
            ddl.set_mark(session, workload, loaded)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates the rows and inserts them as Arrow."""
        return load(lambda rows: self._session(rows=rows), plan, control)

    def insert(
        self,
        connection: Connection,  # noqa: ARG002
        workload: str,  # noqa: ARG002
        rows: Mapping[str, Any],  # noqa: ARG002
    ) -> int:
        """There are no refresh functions here.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{_NO_REFRESH}.")

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Merges what the load wrote; returns seconds a step."""
        with closing(self.connect()) as session:
            return finish(session, workload, control, progress)

    def wire(self, workload: str = "") -> dict[str, Any]:  # noqa: ARG002
        """There is no wire.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{_NO_TRANSACTIONS}.")

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """The statement in ClickHouse's own SQL."""
        return queries.own(neutral)

    def data_paths(self) -> list[Path]:
        """The directory; spilled data lies in its ``tmp``."""
        return [self._folder]

    def process_ids(self) -> list[int]:
        """The engine's process."""
        return [] if self._engine is None else [self._engine.pid]

    def _session(self, workload: str = "", rows: int | None = None) -> ClickhouseConnection:
        if self._engine is None:
            raise TargetError(f"{self._folder} is not open.", kind="connection_lost")
        session = ClickhouseConnection(self._engine, rows)
        try:
            session.setup(settings.statement(settings.session_settings(self._limits)))
            if workload:
                session.setup(f"USE {ddl.quoted(mark.schema_of(workload))}")
        except BaseException:
            session.close()
            raise
        return session
