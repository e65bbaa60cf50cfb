"""The protocol of a target. Targets declare each gap with a reason."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from dyno.bundle.model import TargetFacts
from dyno.contracts.layout import Layout
from dyno.errors import DynoError

Progress = Callable[[int, int, str], None]
"""Called with (rows or units done, total or 0, short text)."""


@dataclass(frozen=True)
class Capabilities:
    """What a target supports. A string is the reason for a gap.

    Attributes:
        dss: Runs decision-support queries.
        neutral: Runs all queries with the joins and conditions of the neutral SQL. A target that
            changes some is ``Rewriting`` (``targets/variants.py``).
        oltp: The Rust driver supports one of its wire protocols.
        load: Loads generated data.
        cold: Restarts with no data cached, and verifies it (``cool()``).
        refresh: Inserts and deletes rows in transactions while queries run.
        resume: Resumes interrupted loads; such a target is ``Resumable``.
        procedure: Runs transactions as stored procedures. If they must be created first, the
            target is ``Programmable``.
        mixed: Runs queries and transactions at the same time.
    """

    dss: bool | str = True
    neutral: bool | str = True
    oltp: bool | str = True
    load: bool | str = True
    cold: bool | str = "Dyno cannot empty its caches yet"
    refresh: bool | str = True
    resume: bool | str = "its loads have no journal; start again with --replace"
    procedure: bool | str = "Dyno has no procedures for it; the client sends the statements"
    mixed: bool | str = True


@dataclass(frozen=True)
class Limits:
    """Resources of an embedded engine.

    Attributes:
        memory_bytes: Memory limit, the same for every engine of a run.
        threads: CPUs it may use.
        launch: Prefix of the command line of its processes, which starts them inside the limits
            of the run (``dyno.confinement``).
        killed: Returns the limit for which the kernel killed one of its processes, or None.
    """

    memory_bytes: int
    threads: int
    launch: tuple[str, ...] = ()
    killed: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class TargetUrl:
    """A parsed target URL.

    Attributes:
        scheme: ``embedded``, ``postgresql``, ``duckdb``, ``null`` …
        name: Name of the target: its folder under ``dyno/targets``.
        text: The original URL. It may contain a password: never record it.
        redacted: The URL without the password, for bundles.
    """

    scheme: str
    name: str
    text: str
    redacted: str


def told_apart(urls: Sequence[TargetUrl]) -> list[str]:
    """The name of each of several targets in a run: ``postgresql``, ``postgresql@2`` …"""
    names = [url.name for url in urls]
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [
        f"{name}@{count}" if count > 1 else name for name, count in zip(names, counts, strict=True)
    ]


def product_of(name: str) -> str:
    """The folder of a target that is named as in a run."""
    return name.partition("@")[0]


@dataclass(frozen=True)
class LoadPlan:
    """What to load.

    Attributes:
        resume: Resume an interrupted load: load only the parts missing in its journal.
        layout: The physical design; None for the target's default.
        days: Initial days of the data; None for a workload without.
        tables: Digest of the tables that a workload file declares; empty for other workloads.
    """

    workload: str
    scale: float
    seed: int
    streams: int
    resume: bool = False
    layout: Layout | None = None
    days: int | None = None
    tables: str = ""


@dataclass(frozen=True)
class Unfinished:
    """An interrupted load, from its journal.

    Attributes:
        streams: Number of streams of the load, which may define the parts of its tables.
        parts: Loaded parts of tables.
        rows: Rows in those parts.
        days: Initial days of the data; None for a workload without.
        tables: As in :class:`LoadPlan`.
    """

    scale: float
    seed: int
    streams: int
    parts: int
    rows: int
    days: int | None = None
    tables: str = ""


@dataclass(frozen=True)
class LoadOutcome:
    """The result of a load, without indexes.

    Attributes:
        tables: One dict per table: ``table``, ``rows``, ``bytes`` (sent), ``seconds``.
        seconds: Wall time from the first byte to the last.
    """

    tables: tuple[dict[str, Any], ...]
    seconds: float
    rows: int
    bytes: int


@dataclass(frozen=True)
class Loaded:
    """Dyno's mark on loaded tables.

    Attributes:
        complete: False from the creation of the tables until rows, keys and checks are done.
        layout: The layout of the load, as JSON; empty for the target's default design.
        update_sets: Number of update sets that the refresh functions have used.
        unrestored: Number of the last update sets whose changes may still be in the data.
        days: Initial days of the data; None for a workload without.
        setup: Tables that the workload's setup creates, or may have created.
    """

    scale: float
    seed: int
    complete: bool
    layout: str = ""
    # These change in one table's mark after the other while the data is complete.
    update_sets: int = field(default=0, compare=False)
    unrestored: int = field(default=0, compare=False)
    days: int | None = None
    setup: tuple[str, ...] = ()


@dataclass
class QueryResult:
    """Rows of one query, as Python values: int, float, Decimal, date, str or None."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


LimitedPlace = Literal["server", "process"]
"""Where ``--limit`` applies: to the engine's own processes, or to Dyno's process. A target declares
it by scheme in ``LIMITED``; without an entry, Dyno cannot limit it."""

StreamAnswer = tuple[int, str, QueryResult]
"""Stream number, query name, rows."""


@dataclass
class PowerResult:
    """Rows and errors of queries, by query name.

    Attributes:
        answers: Answers with validation parameters, on the loaded data.
        errors: Queries that failed in the measured pass.
        drawn: Stream, query and answer with random parameters, or with the new orders of a
            refresh function.
    """

    answers: dict[str, QueryResult] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    drawn: list[StreamAnswer] = field(default_factory=list)


@dataclass(frozen=True)
class Texts:
    """How texts begin in a target's SQL.

    Attributes:
        escaped: With a backslash, which is then written twice, in all of its settings; empty where
            a backslash is a character like others.
        national: With characters beyond ASCII; empty if all texts may have them.
    """

    escaped: str = ""
    national: str = ""


@runtime_checkable
class Spelling(Protocol):
    """A target whose texts begin differently, depending on their characters."""

    TEXTS: ClassVar[Texts]


@runtime_checkable
class Listing(Protocol):
    """A session that reads a table once per row for ``NOT EXISTS``, but once for ``NOT IN``.

    Without an index, ``NOT EXISTS`` takes hours and ``NOT IN`` seconds.
    """

    lists_once: bool


@runtime_checkable
class Translating(Protocol):
    """A session whose database does not run neutral statements as they are written."""

    def own(self, neutral: str) -> str:
        """A neutral statement in the words of the database."""
        ...


class Connection(Protocol):
    """One session for decision-support and maintenance statements. Not shared between threads."""

    def execute(self, sql: str) -> QueryResult:
        """Runs one statement to its last row.

        Raises:
            DatabaseError, TargetError: With a ``kind`` (``connection_lost``,
                ``out_of_memory``, ``disk_full``, ``timeout`` …).
        """
        ...

    def cancel(self) -> None:
        """Cancels the running statement. Thread-safe."""
        ...

    def close(self) -> None:
        """Closes the session. Never raises."""
        ...


def neutrally(connection: Connection, neutral: str) -> QueryResult:
    """Runs a neutral statement.

    Raises:
        DynoError: The database's error.
    """
    own = connection.own(neutral) if isinstance(connection, Translating) else neutral
    return connection.execute(own)


class Target(Protocol):
    """A database system under test, as a context manager.

    Entering starts or checks it. Leaving stops what it started and restores what it changed.
    """

    name: str
    url: TargetUrl
    capabilities: Capabilities

    def __enter__(self) -> Target: ...

    def __exit__(self, *exc: object) -> None: ...

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        ...

    def connect(self, workload: str = "") -> Connection:
        """Opens a session in which unqualified table names mean those of ``workload``."""
        ...

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables, without keys or indexes.

        Raises:
            UsageError: If the tables exist and ``replace`` is false, if Dyno did not create them,
                or if the server does not support ``layout``. Nothing is changed then.
        """
        ...

    def loaded(self, workload: str) -> Loaded | None:
        """Reads Dyno's mark; None if there is none."""
        ...

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        ...

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates and loads the rows, without intermediate files."""
        ...

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:
        """Adds generated rows to loaded tables, in the open transaction of ``connection``.

        Only for targets with the capability ``refresh``. ``insert.insert_values`` is the generic
        implementation.

        Args:
            connection: A session of :meth:`connect` with an open transaction.
            workload: The workload of the tables.
            rows: Arrow streams (``__arrow_c_stream__``) by table, in insert order.

        Returns:
            The number of inserted rows that the target reports.
        """
        ...

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,
    ) -> dict[str, Any]:
        """Adds keys and indexes and gathers statistics.

        Returns:
            Seconds by step. Optionally ``space``: a list of ``StepRecord.record`` results, and
            ``notes``: lines on deviations from the layout.
        """
        ...

    def wire(self, workload: str = "") -> dict[str, Any]:
        """Connection parameters for the Rust driver; may contain a password."""
        ...

    def sql(self, workload: str, name: str, neutral: str) -> str:
        """The statement ``name`` in the target's dialect; ``neutral`` unless it must differ."""
        ...

    def data_paths(self) -> list[Path]:
        """Paths of its data on this machine; empty for a remote target."""
        ...

    def process_ids(self) -> list[int]:
        """Server processes on this machine; empty if remote or in-process."""
        ...


@runtime_checkable
class Designed(Protocol):
    """A target with parts of a layout that must be set before it starts."""

    def before_start(self, layout: Layout) -> None:
        """Stores the layout for the next start."""
        ...

    def deviations(self, layout: Layout) -> list[str]:
        """Deviations of the running target from ``layout``, one per line."""
        ...


@runtime_checkable
class Stored(Protocol):
    """A target that knows the paths of its files on this machine."""

    def storage(self) -> dict[str, list[Path]]:
        """Paths of data, log and temporary files, and of tablespaces by volume, if known."""
        ...


@runtime_checkable
class Unplaced(Protocol):
    """A target that explains why it could not find some of its files."""

    def unplaced(self) -> list[str]:
        """One line per obstacle: what is unknown, and the remedy."""
        ...


@runtime_checkable
class Made(Protocol):
    """A target that creates its database only for a load."""

    def before_load(self) -> None:
        """Lets the next start create the database."""
        ...


@runtime_checkable
class Removable(Protocol):
    """A target that can remove Dyno's objects and nothing else."""

    def marked(self) -> list[str]:
        """Descriptions of the objects that carry Dyno's mark."""
        ...

    def remove(self) -> list[str]:
        """Removes the marked objects; returns their descriptions."""
        ...


@runtime_checkable
class Limited(Protocol):
    """A target with a connection limit."""

    def free_connections(self) -> str:
        """The number of free connections before the run, in a sentence."""
        ...


@runtime_checkable
class Supervised(Protocol):
    """A target that may own its server process and then knows why it exited."""

    def exit_reason(self) -> DynoError | None:
        """Why the server exited; None if it is running, or not Dyno's."""
        ...


@runtime_checkable
class Programmable(Protocol):
    """A target that runs a workload's transactions as stored procedures."""

    def program(self, workload: str) -> dict[str, Any]:
        """Creates the procedures, unless this version already exists.

        They carry Dyno's mark, and are removed or replaced with the tables.

        Returns:
            The record: ``procedures`` (names), ``version``, and whether they were ``made``.

        Raises:
            UsageError: If an object that Dyno did not create has one of their names.
            TargetError: If they cannot be created.
        """
        ...


@runtime_checkable
class Resumable(Protocol):
    """A target that resumes loads after a kill.

    Its ``load`` writes a journal (``targets/journal.py``): one transaction adds each part of a
    table and its journal entry. ``create_tables`` and ``mark`` with ``complete`` remove the journal
    in the same transaction as their other changes.
    """

    def unfinished(self, workload: str) -> Unfinished | None:
        """The interrupted load in the journal; None without a journal that Dyno wrote."""
        ...
