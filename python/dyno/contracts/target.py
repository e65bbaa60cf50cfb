"""What a target must offer. A gap is declared with its reason and skipped, never silent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from dyno.bundle.model import Role, TargetFacts
from dyno.contracts.layout import Layout
from dyno.errors import DynoError

Progress = Callable[[int, int, str], None]
"""Called with (rows or units done, total or 0, a few words)."""


@dataclass(frozen=True)
class Capabilities:
    """What a target can do. A string says why it cannot.

    Attributes:
        dss: Runs decision-support queries.
        neutral: Runs all of them with the joins and conditions of the neutral text; a target that
            changes some is ``Rewriting`` (``targets/variants.py``).
        oltp: Is driven by the Rust driver through one of its wires.
        load: Takes generated data.
        cold: Can be restarted with none of its data cached, and proves it (``cool()``).
        refresh: Takes and gives up rows in transactions while queries run.
        resume: A load that was cut off can go on; such a target is ``Resumable``.
        procedure: Runs transactions that are programmed inside it; where they have to be put
            there first, it is ``Programmable``.
    """

    dss: bool | str = True
    neutral: bool | str = True
    oltp: bool | str = True
    load: bool | str = True
    cold: bool | str = "Dyno cannot empty its caches yet"
    refresh: bool | str = True
    resume: bool | str = "its loads have no journal; start again with --replace"
    procedure: bool | str = "Dyno has no procedures for it; the client sends the statements"


@dataclass(frozen=True)
class Limits:
    """What Dyno gives an embedded engine of the machine.

    Attributes:
        memory_bytes: Cap for the engine, the same for every engine of a run.
        threads: Processors it may use.
        launch: What the command line of its processes begins with, so that they start where the
            limits of the run hold (``dyno.confinement``).
        killed: Tells which of those limits the kernel has killed one of its processes for; None
            if none.
    """

    memory_bytes: int
    threads: int
    launch: tuple[str, ...] = ()
    killed: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class TargetUrl:
    """A target's address, taken apart.

    Attributes:
        scheme: ``embedded``, ``postgresql``, ``duckdb``, ``null`` …
        name: The target's name: its folder under ``dyno/targets``.
        text: The URL as given, which may hold a password: never record it.
        redacted: The URL fit for a bundle.
    """

    scheme: str
    name: str
    text: str
    redacted: str


@dataclass(frozen=True)
class LoadPlan:
    """What to load.

    Attributes:
        resume: Go on with a load that was cut off: only the parts that its journal lacks.
        layout: The physical design; None for the target's own.
    """

    workload: str
    scale: float
    seed: int
    streams: int
    resume: bool = False
    layout: Layout | None = None


@dataclass(frozen=True)
class Unfinished:
    """A load that did not end, as its journal tells.

    Attributes:
        streams: With which it was begun, and perhaps its tables cut.
        parts: Parts of tables that are in.
        rows: Rows in those.
    """

    scale: float
    seed: int
    streams: int
    parts: int
    rows: int


@dataclass(frozen=True)
class LoadOutcome:
    """What a load did, data only: indexes are timed apart.

    Attributes:
        tables: One dict a table: ``table``, ``rows``, ``bytes`` (as sent), ``seconds``.
        seconds: First to last byte, wall clock.
    """

    tables: tuple[dict[str, Any], ...]
    seconds: float
    rows: int
    bytes: int


@dataclass(frozen=True)
class Loaded:
    """What Dyno's mark on the tables says of the data in them.

    Attributes:
        complete: False from the creation of the tables until rows, keys and checks are done.
        layout: The layout that it was loaded with, as JSON; empty for the target's own design.
        update_sets: How many update sets the refresh functions have used so far.
        unrestored: How many of the last of them may still be in the data.
    """

    scale: float
    seed: int
    complete: bool
    layout: str = ""
    # They change one table's mark after another's while the data is whole.
    update_sets: int = field(default=0, compare=False)
    unrestored: int = field(default=0, compare=False)


@dataclass
class QueryResult:
    """Rows of one query. Values are Python's own: int, float, Decimal, date, str or None."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


LimitedPlace = Literal["server", "process"]
"""Whom ``--limit`` holds for: processes of the engine's own, or Dyno's, in which it works. A target
says so in ``LIMITED`` by scheme; without one its processes are not Dyno's to limit."""

StreamAnswer = tuple[int, str, QueryResult]
"""Number of a stream, name of a query, its rows."""


@dataclass
class PowerResult:
    """Rows of every query that ended well, by query name, and what did not.

    Attributes:
        answers: To the validation parameters, on the data as it was loaded.
        errors: What failed in the measured pass.
        drawn: Stream, query and answer where the parameters were drawn, or the data has the new
            orders of a refresh function.
    """

    answers: dict[str, QueryResult] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    drawn: list[StreamAnswer] = field(default_factory=list)


@runtime_checkable
class Listing(Protocol):
    """A session that reads a table anew for each row of ``NOT EXISTS``, but once for ``NOT IN``.

    Without an index the one takes hours where the other takes seconds.
    """

    lists_once: bool


class Connection(Protocol):
    """One session for decision-support and maintenance statements. Not shared between threads."""

    def execute(self, sql: str) -> QueryResult:
        """Runs one statement to its last row.

        Raises:
            DatabaseError, TargetError: With ``kind`` classed (``connection_lost``,
                ``out_of_memory``, ``disk_full``, ``timeout`` …).
        """
        ...

    def cancel(self) -> None:
        """Stops the statement under way; may be called from another thread."""
        ...

    def close(self) -> None:
        """Ends the session; never raises."""
        ...


class Target(Protocol):
    """A database system under test, as a context manager.

    Entering starts or checks it; leaving stops what was started and restores what was changed.
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
        """A new session; plain table names in it mean those of ``workload``."""
        ...

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables, without keys or indexes.

        Raises:
            UsageError: If tables of those names exist and ``replace`` is false, or they are
                not Dyno's; or if this server cannot have ``layout``. Nothing was touched then.
        """
        ...

    def loaded(self, workload: str) -> Loaded | None:
        """What is loaded, read from Dyno's mark; None if there is nothing of Dyno's."""
        ...

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        ...

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates and loads the rows, without intermediate files."""
        ...

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:
        """Adds generated rows to loaded tables, in the transaction that ``connection`` has open.

        Only for targets whose capability ``refresh`` is true. ``insert.insert_values`` serves a
        target that has no faster way.

        Args:
            connection: One of :meth:`connect`'s, with a transaction begun.
            workload: Whose tables.
            rows: By table, an Arrow stream (``__arrow_c_stream__``); tables in their order.

        Returns:
            The rows that the target says it took.
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
            Seconds a step; and, where the target tells, ``space``: a list of what
            ``StepRecord.record`` gives, and ``notes``: lines on what differs from the layout.
        """
        ...

    def wire(self, workload: str = "") -> dict[str, Any]:
        """How the Rust driver reaches it (``kind`` and its fields); may hold a password."""
        ...

    def sql(self, workload: str, name: str, neutral: str) -> str:
        """The statement ``name`` in the target's own SQL: ``neutral`` unless it must differ."""
        ...

    def data_paths(self) -> list[Path]:
        """Places on this machine's storage where its data lies; empty for a remote target."""
        ...

    def process_ids(self) -> list[int]:
        """Server processes on this machine, for the probes; empty if remote or in-process."""
        ...


@runtime_checkable
class Designed(Protocol):
    """A target with parts of a layout that have to be in place before it is started."""

    def before_start(self, layout: Layout) -> None:
        """Takes note of the layout; the next start puts those parts in place."""
        ...

    def deviations(self, layout: Layout) -> list[str]:
        """Where the running target is no longer as ``layout`` says, a line each."""
        ...


@runtime_checkable
class Stored(Protocol):
    """A target that knows where its files lie on this machine's storage."""

    def storage(self) -> dict[Role, list[Path]]:
        """Paths of data, log and temporary files; without an entry where that is not known."""
        ...


@runtime_checkable
class Unplaced(Protocol):
    """A target that can say why some of its files could not be found."""

    def unplaced(self) -> list[str]:
        """A line for each obstacle: what is not known, and what to do."""
        ...


@runtime_checkable
class Made(Protocol):
    """A target that makes its database only where something is to be loaded into it."""

    def before_load(self) -> None:
        """Lets the next start make what is missing."""
        ...


@runtime_checkable
class Removable(Protocol):
    """A target in which what Dyno has made lies beside what is not Dyno's."""

    def marked(self) -> list[str]:
        """What bears Dyno's mark, an item each, in words for a person."""
        ...

    def remove(self) -> list[str]:
        """Removes it and nothing else; returns what went."""
        ...


@runtime_checkable
class Limited(Protocol):
    """A target that knows how many sessions it takes."""

    def room(self) -> str:
        """For how many it had room when the driver was told its way, in a sentence."""
        ...


@runtime_checkable
class Supervised(Protocol):
    """A target whose server may be Dyno's own, which then sees why it ended."""

    def exit_reason(self) -> DynoError | None:
        """What ended the server; None if it is well, or not Dyno's."""
        ...


@runtime_checkable
class Programmable(Protocol):
    """A target that takes a workload's transactions as procedures."""

    def program(self, workload: str) -> dict[str, Any]:
        """Puts the procedures there, unless they are and are of this version.

        They bear Dyno's mark, and go with the tables when those are replaced or removed.

        Returns:
            What to record: ``procedures`` (names), ``version``, and whether they were ``made``.

        Raises:
            UsageError: If something that is not Dyno's has one of their names.
            TargetError: If they could not be made.
        """
        ...


@runtime_checkable
class Resumable(Protocol):
    """A target whose loads can go on after a kill.

    Its ``load`` keeps a journal (``targets/journal.py``): each part of a table and its entry go in
    by one transaction. ``create_tables`` and ``mark`` with ``complete`` remove the journal, each
    in the transaction that does the rest.
    """

    def unfinished(self, workload: str) -> Unfinished | None:
        """What the journal of a load that did not end tells; None if there is none of Dyno's."""
        ...
