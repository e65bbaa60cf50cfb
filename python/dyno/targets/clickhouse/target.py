"""ClickHouse as a target: a column store in a directory, in a child process."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from dyno.bundle.inside import SOURCE
from dyno.bundle.model import Applied, TargetFacts
from dyno.config.settings import Setting
from dyno.contracts.cold import Emptied
from dyno.contracts.layout import Layout
from dyno.contracts.maintenance import Job, Maintenance
from dyno.contracts.plans import QueryPlan
from dyno.contracts.target import (
    Capabilities,
    Connection,
    Limits,
    Loaded,
    LoadOutcome,
    LoadPlan,
    Progress,
    TargetUrl,
    Texts,
)
from dyno.errors import TargetError, UsageError
from dyno.host.pagecache import empty, files_under
from dyno.targets import mark
from dyno.targets.clickhouse import (
    ddl,
    design,
    order,
    plans,
    queries,
    rows,
    settings,
    tuning,
)
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.clickhouse.engine import Engine
from dyno.targets.clickhouse.errors import holder_of
from dyno.targets.clickhouse.finish import finish
from dyno.targets.clickhouse.inside import events
from dyno.targets.clickhouse.inside.statements import ClickhouseInspector
from dyno.targets.clickhouse.load import load
from dyno.targets.clickhouse.maintenance import LACKS, ClickhouseCheck
from dyno.targets.clickhouse.meter import ClickhouseMeter
from dyno.targets.clickhouse.place import locate, prepare
from dyno.targets.sessionprobe import Asked, SessionProbe
from dyno.workspace.footprint import occupied

_NO_TRANSACTIONS = "ClickHouse has no multi-statement transactions"

_NO_REFRESH = "ClickHouse has no transactions over several statements and tables"


class ClickhouseTarget:
    """Implements the protocol. A workload's tables are in the database ``dyno_<workload>``."""

    name = "clickhouse"
    TEXTS: ClassVar = Texts(escaped="'")
    SEVERAL_DATABASES: ClassVar = True
    LACKS_MAINTENANCE: ClassVar = LACKS

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        self.capabilities = Capabilities(
            oltp=_NO_TRANSACTIONS, cold=True, refresh=_NO_REFRESH, mixed=_NO_TRANSACTIONS
        )
        self._given = self._limits = limits
        self._folder = locate(url, out)
        self._engine: Engine | None = None
        self._changes: list[tuning.Change] = []
        self._applied: tuple[Applied, ...] = ()
        self._in_rows: dict[str, bool] = {}

    def __enter__(self) -> ClickhouseTarget:
        """Starts the engine on the directory.

        Raises:
            TargetError: If chdb is not installed, the directory is not ClickHouse's, another
                process has it open, or a setting was not applied.
            UsageError: If this ClickHouse lacks a requested setting.
        """
        prepare(self._folder, private=self.url.scheme == "embedded")
        self._open()
        try:
            self._verify()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        """Stops the engine; its settings end with it."""
        self._close()
        self._applied = tuple(item.model_copy(update={"restored": True}) for item in self._applied)

    def tune(self, asked: Sequence[Setting]) -> None:
        """Stores settings for the start (see :class:`dyno.contracts.tuning.Tunable`)."""
        self._changes, self._applied = tuning.changes(asked), ()
        self._limits = tuning.within(self._changes, self._given)

    def tuned(self) -> tuple[Applied, ...]:
        """The applied settings, as read back."""
        return self._applied

    def cool(self) -> Emptied:
        """Stops the engine, evicts its files from the page cache and starts it again.

        Raises:
            TargetError: If Dyno cannot verify that no process has the directory open and nothing is
                cached.
        """
        self._close()
        if holder := holder_of(self._folder):
            raise TargetError(
                f"Cannot start cold: {self._folder} is open in another process ({holder}).",
                kind="busy",
            )
        emptied = empty(files_under(self.data_paths()))
        self._open()
        return emptied

    def _open(self) -> None:
        limits = self._limits
        options = settings.engine_options(limits)
        self._engine = Engine(self._folder, options, limits.launch, limits.killed)

    def _close(self) -> None:
        if self._engine is not None:
            self._engine.stop()
            self._engine = None

    def _verify(self) -> None:
        if not self._changes:
            return
        wanted = tuning.names(self._changes)
        with closing(ClickhouseConnection(self._running())) as plain:
            # A session without Dyno's settings shows the defaults.
            usual = settings.shown(plain, wanted)
            version = str(plain.execute("SELECT version()").rows[0][0])
        tuning.require_known(self._changes, usual, f"ClickHouse {version}")
        ours = {**settings.engine_options(self._given), **settings.session_settings(self._given)}
        before = {name: str(ours.get(name, value)) for name, value in usual.items()}
        with closing(self.connect()) as session:
            found = settings.shown(session, wanted)
        self._applied = tuple(tuning.verify(self._changes, found, before))

    def _running(self) -> Engine:
        if self._engine is None:
            raise TargetError(f"{self._folder} is not open.", kind="connection_lost")
        return self._engine

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        with closing(self.connect()) as session:
            shown = settings.shown(session, [*settings.engine_options(self._limits), *self._ours()])
            version = str(session.execute("SELECT version()").rows[0][0])
        return TargetFacts(
            url=self.url.redacted,
            place="machine",
            version=f"ClickHouse {version} (chdb)",
            settings=dict(sorted(shown.items())),
        )

    def connect(self, workload: str = "") -> ClickhouseConnection:
        """Opens a session in which unqualified table names mean those of ``workload``.

        Raises:
            TargetError: If the workload is not loaded.
        """
        return self._session(workload)

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables with sort order and partitions (see the protocol)."""
        with closing(self.connect()) as session:
            self._in_rows.clear()
            ddl.create_tables(session, str(self._folder), workload, replace=replace, layout=layout)

    def loaded(self, workload: str) -> Loaded | None:
        """The loaded data, according to Dyno's mark."""
        with closing(self.connect()) as session:
            return ddl.loaded(session, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect()) as session:
            ddl.set_mark(session, workload, loaded)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates the rows and inserts them as Arrow."""
        return load(lambda pipe: self._session(pipe=pipe), plan, control)

    def insert(
        self,
        connection: Connection,  # noqa: ARG002
        workload: str,  # noqa: ARG002
        rows: Mapping[str, Any],  # noqa: ARG002
    ) -> int:
        """ClickHouse does not support refresh functions.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{_NO_REFRESH}.")

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,
    ) -> dict[str, Any]:
        """Merges the inserted parts of each partition.

        Returns:
            Seconds per step; ``space`` and ``notes`` as in the protocol.
        """
        with closing(self.connect()) as session:
            probe = partial(occupied, self.data_paths())
            done = finish(session, workload, probe, control, progress)
        return {**done, "notes": design.notes(layout)}

    def data_bytes(self, workload: str) -> int:
        """Bytes of the files of the workload's parts, and of its tables in rows."""
        place = ddl.literal(mark.schema_of(workload))
        with closing(self.connect()) as session:
            found = session.execute(
                "SELECT sum(bytes_on_disk) FROM system.parts "  # noqa: S608  (a literal)
                f"WHERE active AND database = {place}"
            ).rows
            return int(found[0][0] or 0) + rows.stored_bytes(session, workload)

    def wire(self, workload: str = "") -> dict[str, Any]:  # noqa: ARG002
        """ClickHouse has no wire protocol here.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{_NO_TRANSACTIONS}.")

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """The statement in ClickHouse SQL; in one join order if a table is in rows."""
        if self._mixed(workload):
            return queries.in_order(neutral, workload)
        return queries.own(neutral)

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """A check of all checksums."""
        if (reason := self.LACKS_MAINTENANCE.get(name)) is not None:
            return reason
        return ClickhouseCheck(self.connect(), self._folder / "tmp", workload)

    def meter(self, connection: Connection) -> ClickhouseMeter:
        """A meter of bytes read, bytes spilled and memory, from ClickHouse's query log."""
        return ClickhouseMeter(cast("ClickhouseConnection", connection))

    def probes(self) -> list[SessionProbe[ClickhouseConnection]]:
        """Its counters and memory, read in a session of their own."""
        asked = Asked(lambda: events.reader(self.name))
        return [SessionProbe(SOURCE, self._unlogged, asked)]

    def inspector(self) -> ClickhouseInspector:
        """Its statements between two points in time."""
        return ClickhouseInspector(self.connect)

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        return plans.explain(cast("ClickhouseConnection", connection), sql, analyse=analyse)

    def data_paths(self) -> list[Path]:
        """The directory; its ``tmp`` has the spilled data."""
        return [self._folder]

    def process_ids(self) -> list[int]:
        """The engine's process."""
        return [] if self._engine is None else [self._engine.pid]

    def _ours(self) -> dict[str, int | str]:
        """Session settings: Dyno's own, then the requested ones."""
        return {**settings.session_settings(self._limits), **tuning.of_sessions(self._changes)}

    def _mixed(self, workload: str) -> bool:
        """Whether tables of a workload are in rows."""
        if self._engine is None:
            return False
        if workload not in self._in_rows:
            with closing(ClickhouseConnection(self._engine)) as session:
                self._in_rows[workload] = bool(rows.files(session, workload))
        return self._in_rows[workload]

    def _unlogged(self) -> ClickhouseConnection:
        """A session whose statements push none out of the query log."""
        session = self._session()
        try:
            session.setup("SET log_queries = 0")
        except BaseException:
            session.close()
            raise
        return session

    def _session(self, workload: str = "", pipe: int | None = None) -> ClickhouseConnection:
        session = ClickhouseConnection(self._running(), pipe)
        try:
            session.setup(settings.statement(self._ours()))
            if workload:
                if self._mixed(workload):
                    session.setup(settings.statement(order.SETTINGS))
                session.setup(f"USE {ddl.quoted(mark.schema_of(workload))}")
        except BaseException:
            session.close()
            raise
        return session
