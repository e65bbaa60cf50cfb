"""What advice needs to know of a database, in neutral terms and in the engine's own words.

A target has a module ``targets/<name>/advice.py`` with ``DIALECT``. It translates the settings that
a run recorded, or that a live server shows, and writes the commands that change them; Dyno never
runs these. A target that is :class:`Advised` also reads what only the live database knows.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, Protocol, get_args, runtime_checkable

from dyno.contracts.inspection import Inspection
from dyno.contracts.partitioning import ColumnKind, Partitioning, Stored

Term = Literal[
    "cache",
    "auto_close",
    "auto_shrink",
    "autovacuum",
    "build_memory",
    "checkpoint_interval",
    "checkpoint_spread",
    "checksums",
    "column_store_columns",
    "connections",
    "delayed_commits",
    "direct_io",
    "durable_commit",
    "even_growth",
    "file_growth",
    "fixed_growth",
    "flushed_log",
    "huge_pages",
    "instant_files",
    "io_capacity",
    "io_concurrency",
    "io_timing",
    "large_extents",
    "large_page_flag",
    "locked_memory",
    "log_buffer",
    "log_capacity",
    "log_floor",
    "log_kept",
    "log_preallocated",
    "page",
    "parallel",
    "parallel_cost",
    "planner_cache",
    "query_cache",
    "query_cpus",
    "random_cost",
    "recoverable",
    "statement_counts",
    "statistics",
    "temp_file_sizes",
    "temp_files",
    "temp_limit",
    "torn_pages",
    "work_memory",
]
"""Terms of advice, in neutral units: bytes, seconds, counts, shares of 1, and switches.

``cache``: memory for pages. ``auto_close``: the database closes when its last session ends.
``auto_shrink``: files shrink by themselves. ``autovacuum``: old row versions are removed
automatically. ``build_memory``: bytes that one query may have, such as the build of an index.
``checkpoint_interval``: seconds between checkpoints by time. ``checkpoint_spread``: share of that
interval over which a checkpoint writes. ``column_store_columns``: columns of the widest column
store. ``connections``: the most sessions. ``delayed_commits``: whether a session may ask that its
commits do not wait. ``direct_io``: the engine's I/O bypasses the page cache.
``durable_commit``: a commit waits until its log is on storage. ``file_growth``: bytes by which a
shared file grows. ``flushed_log``: the engine asks for durable writes at all. ``even_growth``:
filegroups whose files do not grow together. ``fixed_growth``: files that grow in percent.
``instant_files``: files grow without being filled with zeroes. ``large_extents``: tables grow by
many extents in a row. ``locked_memory``: the cache is locked in memory. ``large_page_flag``: the
engine allocates its memory in large pages. ``huge_pages``: ``on``, ``try`` or ``off``.
``io_capacity``: background writes a second. ``io_concurrency``: reads in flight of one session.
``log_capacity``: bytes of log between checkpoints. ``log_floor``: bytes of log files that stay.
``log_kept``: the log stays until it is backed up.
``log_preallocated``: new log files are written in full. ``page``: bytes of a page. ``parallel``:
workers of one query besides its session. ``parallel_cost``: estimated cost from which a query runs
in parallel. ``query_cpus``: CPUs of one query; 0 for all. ``temp_file_sizes``: different sizes of
these. ``temp_files``: files of the temporary database. ``planner_cache``: cache that plans assume.
``random_cost``: cost of a random page, of a sequential one. ``recoverable``: the log suffices to
restore to a point in time. ``statement_counts``: counts by statement. ``statistics``: those for
plans are kept automatically. ``temp_limit``: most bytes of temporary files; 0 for no limit.
``torn_pages``: half-written pages are repaired after a crash. ``work_memory``: memory of one sort
or hash.
"""
TERMS: tuple[Term, ...] = get_args(Term)

Value = float | bool | str


@dataclass(frozen=True)
class Knob:
    """A parameter of an engine for a term.

    Attributes:
        name: The engine's name of it.
        read: Its value in neutral units; None for a text that means nothing to Dyno.
        write: A neutral value in the engine's syntax; empty if only a rebuild changes it.
        restart: Whether a change needs a restart.
        appended: Whether it is a list, which keeps what it has.
        before: A line on what to check before a change.
    """

    name: str
    read: Callable[[str], Value | None]
    write: Callable[[Value], str] = str
    restart: bool = False
    appended: bool = False
    before: str = ""


@dataclass(frozen=True)
class Known:
    """What is set for a term.

    Attributes:
        name: The engine's name of the parameter.
        value: In neutral units.
        shown: As the engine shows it.
    """

    name: str
    value: Value
    shown: str


@dataclass(frozen=True)
class Dialect:
    """How an engine says what advice is about.

    Attributes:
        knobs: Its parameters by term; of several, the first that it shows counts.
        lacks: Why it has no parameter for a term; a clause.
        assign: The commands that set a parameter to a value in its syntax.
        analyse: The statement that gathers statistics of a table.
        drop_index: The statement that drops an index of a table.
        clean: The statement that removes dead rows of a table.
        log_table: The statement that lets the log protect a table.
        upgrade: What to do about a version without support, with its newest ``series``.
        ends: The last day of support by series, as published by its makers.
        series: The series of a version text.
        cache_share: Least share of memory that its documentation gives the cache of a server.
        most_cache: The most bytes of cache that a version text's edition uses; None for no limit.
        move_log, move_temp: How to move these files to another volume.
        back_up_log: How to back up the log regularly.
        rebuild: How to change what is fixed when the data is created, by term.
        grammar: The dialect of ``sqlglot`` that reads its statements; empty for none.
        partitioning: How it partitions a table; or why it cannot, as a clause.
        columnar: Why no advice on column stores applies to it; a clause, empty if Dyno reads the
            columns of its tables.
    """

    knobs: Mapping[Term, tuple[Knob, ...]]
    lacks: Mapping[Term, str] = field(default_factory=dict[Term, str])
    assign: Callable[[Knob, str], tuple[str, ...]] = lambda knob, value: (
        f"SET {knob.name} = {value};",
    )
    analyse: str = "ANALYZE {table};"
    drop_index: str = "DROP INDEX {index};"
    clean: str = ""
    log_table: str = ""
    upgrade: str = ""
    ends: Mapping[str, date] = field(default_factory=dict[str, date])
    series: Callable[[str], str] = lambda version: version
    cache_share: float | None = None
    most_cache: Callable[[str], float | None] = lambda _: None
    move_log: tuple[str, ...] = ()
    move_temp: tuple[str, ...] = ()
    back_up_log: tuple[str, ...] = ()
    rebuild: Mapping[Term, str] = field(default_factory=dict[Term, str])
    grammar: str = ""
    partitioning: Partitioning | str = "Dyno does not know how it partitions tables"
    columnar: str = "Dyno does not read the columns of its tables"


@dataclass(frozen=True)
class ColumnFacts:
    """A column of a table. Unknown values are None.

    Attributes:
        type: In the engine's words.
        distinct: Different values, as the engine estimates them.
        null_share: Share of rows without a value, 0 to 1.
        common: The most common values, and the share of rows of each.
        histogram: Values between which lie equal numbers of the other rows, in order.
        source: Where ``common`` and ``histogram`` come from; empty without them.
    """

    name: str
    kind: ColumnKind
    type: str = ""
    nullable: bool = True
    distinct: float | None = None
    null_share: float | None = None
    common: Mapping[str, float] = field(default_factory=dict[str, float])
    histogram: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class TableFacts:
    """A table of the connected database. Unknown values are None.

    Attributes:
        name: With its schema.
        bytes: Without its indexes.
        dead_rows: Row versions not yet removed.
        analysed: Whether there are statistics for plans.
        logged: Whether the log protects it.
        partition_of: The partitioned table; empty for others. Its own name if the engine does not
            list partitions.
        columns: In their order; empty if they were not read.
        keys: Columns of each unique key by name.
        primary_key: The name of the one that is the primary key; empty without.
        foreign_keys: Names of foreign keys that the engine cannot keep if it is partitioned.
        stored, rows_in: See :class:`~dyno.contracts.partitioning.Cut`.
    """

    name: str
    bytes: int | None = None
    rows: int | None = None
    dead_rows: int | None = None
    analysed: bool | None = None
    logged: bool | None = None
    partition_of: str = ""
    columns: tuple[ColumnFacts, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    primary_key: str = ""
    foreign_keys: tuple[str, ...] = ()
    stored: Mapping[str, Stored] = field(default_factory=dict[str, Stored])
    rows_in: str = ""


@dataclass(frozen=True)
class IndexFacts:
    """A secondary index. Unknown values are None.

    Attributes:
        name: With the schema.
        table: With the schema.
        columns: In order, as definitions; an expression or a condition is part of them.
        needed: It enforces a key or a constraint.
        scans: Uses since the counters began.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    needed: bool = False
    bytes: int | None = None
    scans: int | None = None


Counter = Literal[
    "counted_s",
    "log_bytes",
    "checkpoints_timed",
    "checkpoints_forced",
    "temp_bytes",
    "growing_file",
    "connections_peak",
    "huge_pages_used",
    "databases_bytes",
    "log_backup_age_s",
]
"""``counted_s``: seconds since the counters began. ``log_bytes``: written to the log since.
``checkpoints_timed``, ``checkpoints_forced``: begun by time, and because the log was full.
``temp_bytes``: written to temporary files. ``growing_file``: size of the shared file that grows.
``connections_peak``: the most sessions at a time. ``huge_pages_used``: 1 if the cache is in huge
pages, else 0. ``databases_bytes``: all databases of the server. ``log_backup_age_s``: seconds since
the last backup of the log.
"""

Part = Literal["tables", "indexes", "uses", "counters"]


@dataclass(frozen=True)
class Catalog:
    """What a live database knows of itself.

    Attributes:
        settings: All its settings, by name.
        tables, indexes: Of the connected database; system tables are left out.
        uses: Statements and relations since the counters began.
        counters: Known ones.
        obstacles: Why a part or a counter is missing, with the remedy; a clause.
        hidden: Why a setting may be missing that the engine shows to some roles only, by name.
        impossible: Why this installation cannot have a term; a clause.
    """

    settings: Mapping[str, str]
    tables: Sequence[TableFacts] = ()
    indexes: Sequence[IndexFacts] = ()
    uses: Inspection = field(default_factory=Inspection)
    counters: Mapping[Counter, float] = field(default_factory=dict[Counter, float])
    obstacles: Mapping[Part | Counter, str] = field(default_factory=dict[Part | Counter, str])
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])
    impossible: Mapping[Term, str] = field(default_factory=dict[Term, str])


@runtime_checkable
class Advised(Protocol):
    """A target that reads what advice needs. It changes nothing."""

    def catalog(self) -> Catalog:
        """Settings, tables, indexes and counters of the live database.

        Raises:
            DynoError: If the database does not respond.
        """
        ...


def dialect(target: str) -> Dialect | None:
    """The dialect of ``target``; None if it has none, or if the target is unknown."""
    if not re.fullmatch(r"[a-z]{1,40}", target):
        return None
    module = f"dyno.targets.{target}.advice"
    try:
        if importlib.util.find_spec(module) is None:
            return None
    except ModuleNotFoundError:
        return None
    found: Dialect = importlib.import_module(module).DIALECT
    return found
