"""DuckDB as a target: a column store in a file, in Dyno's own process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import duckdb

from dyno.bundle.model import Applied, TargetFacts
from dyno.config.settings import Setting
from dyno.contracts.advice import Catalog
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
    Unfinished,
)
from dyno.errors import TargetError, UsageError
from dyno.host.pagecache import empty, files_under
from dyno.targets import mark
from dyno.targets.duckdb import catalog, ddl, design, journal, plans, spill, tuning
from dyno.targets.duckdb.connection import DuckdbConnection
from dyno.targets.duckdb.file import config, locate, open_file
from dyno.targets.duckdb.finish import finish
from dyno.targets.duckdb.inside import DuckdbProbe
from dyno.targets.duckdb.load import insert, load
from dyno.targets.duckdb.maintenance import LACKS, DuckdbScan
from dyno.targets.duckdb.meter import DuckdbMeter
from dyno.targets.fileurl import missing
from dyno.workspace.footprint import Probe, occupied

_ONE_WRITER = "DuckDB allows only one writer"

_SETTINGS = (
    "memory_limit",
    "threads",
    "temp_directory",
    "max_temp_directory_size",
    "preserve_insertion_order",
    "checkpoint_threshold",
    "default_block_size",
    "storage_compatibility_version",
)


class DuckdbTarget:
    """Implements the protocol. A workload's tables are in the schema ``dyno_<workload>``."""

    name = "duckdb"
    SEVERAL_DATABASES: ClassVar = True
    LACKS_MAINTENANCE: ClassVar = LACKS

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        self.url = url
        self.capabilities = Capabilities(
            oltp=_ONE_WRITER, cold=True, resume=True, mixed=_ONE_WRITER
        )
        self._limits = limits
        self._file = locate(url, out)
        self._root: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()
        self._may_make = url.scheme == "embedded"
        self._changes: list[tuning.Change] = []
        self._applied: tuple[Applied, ...] = ()

    def __enter__(self) -> DuckdbTarget:
        """Opens the file.

        Raises:
            TargetError: If it is missing and nothing will be loaded, cannot be opened, or another
                process has it open.
            UsageError: If this DuckDB lacks a requested setting.
        """
        if not self._may_make and not self._file.exists():
            raise missing(self._file)
        before = self._settings_before()
        self._open()
        try:
            self._verify(before)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        """Checkpoints the log into the file and closes it; its settings end with it."""
        self._close()
        self._applied = tuple(item.model_copy(update={"restored": True}) for item in self._applied)

    def before_load(self) -> None:
        """Allows the creation of a missing file."""
        self._may_make = True

    def tune(self, asked: Sequence[Setting]) -> None:
        """Stores settings for the start (see :class:`dyno.contracts.tuning.Tunable`)."""
        self._changes = tuning.changes(asked, self._file)

    def tuned(self) -> tuple[Applied, ...]:
        """The applied settings, as read back."""
        return self._applied

    def cool(self) -> Emptied:
        """Closes the file, evicts it from the page cache and opens it again.

        Raises:
            TargetError: If Dyno cannot verify that it is closed and nothing is cached.
        """
        self._close()
        if _is_open(self._file):
            raise TargetError(
                f"Cannot start cold: {self._file} is still open in this process.", kind="busy"
            )
        emptied = empty(files_under(self.data_paths()))
        self._open()
        return emptied

    def _open(self) -> None:
        private = self.url.scheme == "embedded"
        settings = tuning.config(self._changes)
        self._root = open_file(self._file, self._limits, private=private, settings=settings)
        if "temp_directory" in settings:  # the run's settings override the layout
            return
        try:
            with closing(self.connect()) as session:
                spill.restore(session, self._file, private=private)
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        with self._lock:  # a probe may have a session, which keeps the file open
            if self._root is not None:
                self._root.close()
                self._root = None

    def _settings_before(self) -> dict[str, str]:
        """The values before the run's settings, as DuckDB shows them.

        Raises:
            UsageError: If this DuckDB lacks a requested setting.
        """
        if not self._changes:
            return {}
        with closing(duckdb.connect(config={**config(self._file, self._limits)})) as session:
            rows = session.execute("SELECT name, value FROM duckdb_settings()").fetchall()
            known = {str(name): "" if value is None else str(value) for name, value in rows}
            tuning.require_known(self._changes, set(known), f"DuckDB {duckdb.__version__}")
            return known

    def _verify(self, before: dict[str, str]) -> None:
        if not self._changes:
            return
        with closing(self.connect()) as session:

            def read(name: str) -> str | None:
                value = session.execute(f"SELECT current_setting({ddl.literal(name)})").rows[0][0]
                return None if value is None else str(value)

            self._applied = tuple(tuning.verify(self._changes, read, before))

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        with closing(self.connect()) as session:
            names = ", ".join(ddl.literal(name) for name in _SETTINGS)
            shown = session.execute(
                "SELECT name, value FROM duckdb_settings() "  # noqa: S608  (fixed names)
                f"WHERE name IN ({names}) ORDER BY name"
            ).rows
            version = str(session.execute("SELECT version()").rows[0][0])
        return TargetFacts(
            url=self.url.redacted,
            place="process",
            version=f"DuckDB {version.removeprefix('v')}",
            settings={str(name): str(value) for name, value in shown},
        )

    def connect(self, workload: str = "") -> DuckdbConnection:
        """Opens a session in which unqualified table names mean those of ``workload``.

        Raises:
            TargetError: If the workload is not loaded.
        """
        with self._lock:
            session = self._cursor()
        try:
            for item in self._changes:
                if item.local:
                    session.execute(f"SET SESSION {item.name} = {ddl.literal(str(item.value))}")
            if workload:
                session.execute(f"SET schema = {ddl.literal(mark.schema_of(workload))}")
        except BaseException:
            session.close()
            raise
        return session

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables, without keys or indexes (see the protocol)."""
        with closing(self.connect()) as session:
            ddl.create_tables(session, str(self._file), workload, replace=replace)
            volume = layout.temp if layout else None
            spill.place(session, self._file, volume, private=self.url.scheme == "embedded")

    def loaded(self, workload: str) -> Loaded | None:
        """The loaded data, according to Dyno's mark."""
        with closing(self.connect()) as session:
            return ddl.loaded(session, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect()) as session:
            ddl.set_mark(session, workload, loaded)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates the rows and inserts them through Arrow."""
        with closing(self.connect()) as session:
            return load(session, plan, control)

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:
        """Adds generated rows through Arrow."""
        session = cast("DuckdbConnection", connection)
        return sum(insert(session, workload, table, stream) for table, stream in rows.items())

    def unfinished(self, workload: str) -> Unfinished | None:
        """The interrupted load in the journal, if any."""
        with closing(self.connect()) as session:
            found = journal.read(session, workload)
        return None if found is None else found[0]

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,
    ) -> dict[str, Any]:
        """Adds the keys and indexes of the layout, gathers statistics, and writes all to the file.

        Returns:
            Seconds per step; ``space`` and ``notes`` as in the protocol.
        """
        with closing(self.connect()) as session:
            # An interrupted load may have left some.
            present = ddl.index_names(session, mark.schema_of(workload))
            steps = [step for step in design.steps(workload, layout) if step.name not in present]
            probe = partial(occupied, spill.paths(session, self._file))
            return finish(session, steps, probe, control, progress)

    def space_probe(self) -> tuple[Probe, bool] | None:
        """The file, its log, and the folder of spilled data."""
        with closing(self.connect()) as session:
            return partial(occupied, spill.paths(session, self._file)), True

    def data_bytes(self, workload: str) -> int:
        """Bytes of the blocks with the workload's rows."""
        with closing(self.connect(workload)) as session:
            return ddl.data_bytes(session, workload)

    def wire(self, workload: str = "") -> dict[str, Any]:  # noqa: ARG002
        """DuckDB has no wire protocol here.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{_ONE_WRITER}.")

    def sql(self, workload: str, name: str, neutral: str) -> str:  # noqa: ARG002
        """DuckDB runs the neutral statements unchanged."""
        return neutral

    def maintenance(self, workload: str, name: Maintenance) -> Job | str:
        """A full scan with hashes; there are no indexes."""
        if (reason := self.LACKS_MAINTENANCE.get(name)) is not None:
            return reason
        return DuckdbScan(self.connect, Path(f"{self._file}.tmp"), workload)

    def meter(self, connection: Connection) -> DuckdbMeter:
        """A meter of bytes read, bytes spilled and memory, from DuckDB's profiler."""
        return DuckdbMeter(cast("DuckdbConnection", connection))

    def probes(self) -> list[DuckdbProbe]:
        """Its memory and temporary files."""
        return [DuckdbProbe(self.name, self._read)]

    def _read(self, sql: str) -> list[Any]:
        with self._lock, closing(self._cursor()) as session:
            return session.execute(sql).rows

    def _cursor(self) -> DuckdbConnection:
        """Opens a session; the caller holds the lock."""
        if self._root is None:
            raise TargetError(f"{self._file} is not open.", kind="connection_lost")
        return DuckdbConnection(self._root.cursor())

    def explain(self, connection: Connection, sql: str, *, analyse: bool) -> QueryPlan:
        """The plan of a query."""
        assert isinstance(connection, DuckdbConnection)  # noqa: S101  (one of its own)
        return plans.explain(connection, sql, analyse=analyse)

    def catalog(self) -> Catalog:
        """What advice needs (see :mod:`dyno.contracts.advice`)."""
        settings = self.facts().settings
        with closing(self.connect()) as session:
            return catalog.read(settings, session)

    def data_paths(self) -> list[Path]:
        """The database file; spilled data is next to it."""
        return [self._file]

    def process_ids(self) -> list[int]:
        """None: it runs in Dyno's own process."""
        return []


def _is_open(file: Path) -> bool:
    """Whether this process has the file open."""
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if link.readlink() == file.resolve():
                return True
    return False
