"""SQL Server in the terms of advice."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from dyno.contracts.advice import Dialect, Knob, Value
from dyno.targets.sqlserver import editions, readback
from dyno.targets.sqlserver.connection import literal
from dyno.targets.sqlserver.repartition import PARTITIONING
from dyno.targets.sqlserver.tuning import MAXDOP, MEMORY, TEMP_FILES, THRESHOLD
from dyno.targets.wording import among, number, switch, times, whole, word

_MIB = 1 << 20
_MOST_CONNECTIONS = 32_767
_CONNECTIONS = "user connections"
_RECOVERY_TIME = "a checkpoint follows the target recovery time of the database"

_OPTIONS: dict[str, str] = {
    "delayed_durability_desc": "DELAYED_DURABILITY = {}",
    "is_auto_close_on": "AUTO_CLOSE {}",
    "is_auto_shrink_on": "AUTO_SHRINK {}",
    "is_auto_update_stats_on": "AUTO_UPDATE_STATISTICS {}",
    "page_verify_option_desc": "PAGE_VERIFY {}",
    "recovery_model_desc": "RECOVERY {}",
}
"""Columns of ``sys.databases``, and how ALTER DATABASE sets them."""

_WORDS: dict[str, tuple[str, ...]] = {
    readback.BUILD_MEMORY: (
        "ALTER WORKLOAD GROUP [default] WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = 50); "
        "ALTER RESOURCE GOVERNOR RECONFIGURE;    -- the default is 25",
    ),
    readback.INSTANT: (
        "-- on Windows: give the account of the service the right 'Perform volume maintenance "
        "tasks' (secpol.msc), then restart the service",
    ),
    readback.MEMORY_MODEL: (
        "-- on Windows: give the account of the service the right 'Lock pages in memory' "
        "(secpol.msc), set max server memory, then restart the service",
    ),
    readback.EXTENTS: (
        "-- in SQL Server Configuration Manager: add the start-up parameter -E, then restart the "
        "service",
    ),
    readback.PERCENT_GROWTH: (
        "SELECT name, size / 128 AS mb FROM sys.database_files WHERE is_percent_growth = 1;",
        "ALTER DATABASE CURRENT MODIFY FILE (NAME = name, FILEGROWTH = 64MB);    -- for each",
    ),
    readback.SINGLE_GROWTH: (
        "ALTER DATABASE CURRENT MODIFY FILEGROUP [name] AUTOGROW_ALL_FILES;    -- for each",
    ),
    readback.UNBACKED: (
        "BACKUP DATABASE [x] TO DISK = N'PATH/x.bak';    -- the log is kept from then on",
    ),
    readback.TEMP_SIZES: (
        "SELECT name, size / 128 AS mb FROM tempdb.sys.database_files WHERE type = 0;",
        "ALTER DATABASE tempdb MODIFY FILE (NAME = name, SIZE = 1024MB);    -- all the same",
    ),
    readback.TRACE_FLAG.format(834): (
        "-- remove the start-up parameter -T834 in SQL Server Configuration Manager, then restart "
        "the service",
    ),
}
"""What no statement with one value sets."""


def _assign(knob: Knob, value: str) -> tuple[str, ...]:
    if knob.name in _WORDS:
        return _WORDS[knob.name]
    if knob.name in _OPTIONS:
        return (f"ALTER DATABASE CURRENT SET {_OPTIONS[knob.name].format(value)};",)
    if knob.name == TEMP_FILES:
        return (
            "ALTER DATABASE tempdb ADD FILE (NAME = N'temp_2', FILENAME = N'PATH/temp_2.ndf', "
            f"SIZE = 1024MB, FILEGROWTH = 64MB);    -- until there are {value}, of equal size",
        )
    advanced = "EXEC sys.sp_configure N'show advanced options', 1; RECONFIGURE;"
    return (
        advanced,
        f"EXEC sys.sp_configure {literal(knob.name)}, {value}; RECONFIGURE;",
    )


def _on_off(value: Value) -> str:
    return "ON" if value else "OFF"


def _connections(text: str) -> Value | None:
    """0 stands for the most that the server allows."""
    found = number(text)
    return _MOST_CONNECTIONS if found == 0 else found


def _either(on: str, off: str) -> Callable[[Value], str]:
    return lambda value: on if value else off


def _series(version: str) -> str:
    """``SQLServer 2022`` of ``SQLServer 2022 (16.0.4135.4) Developer Edition``."""
    found = re.match(r"\S+ \d+", version)
    return found[0] if found else version


_UNBACKED = Knob(readback.UNBACKED, lambda _: False)
"""Until its first full backup, a database keeps no more of its log than with RECOVERY SIMPLE."""

DIALECT = Dialect(
    grammar="tsql",
    columnar="",
    partitioning=PARTITIONING,
    knobs={
        "auto_close": (Knob("is_auto_close_on", switch, _on_off),),
        "auto_shrink": (Knob("is_auto_shrink_on", switch, _on_off),),
        "build_memory": (Knob(readback.BUILD_MEMORY, number),),
        "cache": (Knob(MEMORY, times(_MIB), lambda value: whole(float(value) / _MIB)),),
        "checksums": (
            Knob("page_verify_option_desc", among("checksum"), _either("CHECKSUM", "NONE")),
        ),
        "column_store_columns": (Knob(readback.WIDEST, number),),
        "connections": (Knob(_CONNECTIONS, _connections, whole, restart=True),),
        "delayed_commits": (Knob("delayed_durability_desc", word, _either("ALLOWED", "DISABLED")),),
        "durable_commit": (
            Knob(
                "delayed_durability_desc",
                among("disabled", "allowed"),  # with the latter, commits are durable by default
                _either("DISABLED", "FORCED"),
            ),
        ),
        "even_growth": (Knob(readback.SINGLE_GROWTH, number),),
        "fixed_growth": (Knob(readback.PERCENT_GROWTH, number),),
        "instant_files": (Knob(readback.INSTANT, among("y"), restart=True),),
        "large_extents": (Knob(readback.EXTENTS, switch, restart=True),),
        "large_page_flag": (Knob(readback.TRACE_FLAG.format(834), switch, restart=True),),
        "locked_memory": (
            Knob(readback.MEMORY_MODEL, among("lock_pages", "large_pages"), restart=True),
        ),
        "parallel_cost": (Knob(THRESHOLD, number, whole),),
        "query_cpus": (Knob(MAXDOP, number, whole),),
        "log_kept": (
            _UNBACKED,
            Knob("recovery_model_desc", among("full", "bulk_logged"), _either("FULL", "SIMPLE")),
        ),
        "recoverable": (
            _UNBACKED,
            Knob("recovery_model_desc", among("full"), _either("FULL", "SIMPLE")),
        ),
        "statistics": (Knob("is_auto_update_stats_on", switch, _on_off),),
        "temp_file_sizes": (Knob(readback.TEMP_SIZES, number),),
        "temp_files": (Knob(TEMP_FILES, number, whole),),
    },
    lacks={
        "autovacuum": "SQL Server always removes ghost rows and old row versions in the background",
        "checkpoint_interval": _RECOVERY_TIME,
        "checkpoint_spread": _RECOVERY_TIME,
        "direct_io": "SQL Server always opens its files without the cache of the system",
        "file_growth": "each file has its own growth; percent-growth judges it",
        "flushed_log": "SQL Server always writes its log through",
        "huge_pages": "large pages need a trace flag, which does not suit column stores; "
        "locked-memory judges whether the cache can be paged out",
        "io_capacity": "SQL Server sizes its background writes itself",
        "io_concurrency": "SQL Server sizes its read-ahead itself",
        "io_timing": "SQL Server always times I/O",
        "log_buffer": "SQL Server sizes its log buffers itself",
        "log_capacity": _RECOVERY_TIME,
        "log_floor": "the log keeps its size until somebody shrinks it",
        "log_preallocated": "SQL Server fills its log with zeroes when it grows; since 2022 only "
        "by more than 64 MB",
        "page": "pages always have 8 KiB",
        "parallel": "it limits the CPUs of a query, which query-cpus judges",
        "planner_cache": "the optimizer knows the cache",
        "query_cache": "SQL Server has no cache of results",
        "random_cost": "the optimizer has no cost of a random page against a sequential one",
        "statement_counts": "SQL Server always counts statements",
        "temp_limit": "tempdb has the limits of its files",
        "torn_pages": "SQL Server repairs no torn page from its log; PAGE_VERIFY finds it, and a "
        "backup restores it",
        "work_memory": "the memory of a query is a share of the server's, not an amount",
    },
    assign=_assign,
    analyse="UPDATE STATISTICS {table} WITH RESAMPLE;",
    drop_index="DROP INDEX {index} ON {table};",
    clean="ALTER INDEX ALL ON {table} REORGANIZE;",
    upgrade="upgrade to {series}, and then raise the compatibility level of each database",
    ends={
        "SQLServer 2016": date(2026, 7, 14),
        "SQLServer 2017": date(2027, 10, 12),
        "SQLServer 2019": date(2030, 1, 8),
        "SQLServer 2022": date(2033, 1, 11),
        "SQLServer 2025": date(2036, 1, 6),
    },
    series=_series,
    cache_share=0.75,
    most_cache=editions.most_cache,
    move_log=(
        "ALTER DATABASE [x] MODIFY FILE (NAME = N'x_log', FILENAME = N'/mnt/log/x_log.ldf');",
        "-- then ALTER DATABASE [x] SET OFFLINE;, move the file, ALTER DATABASE [x] SET ONLINE;",
    ),
    move_temp=(
        "ALTER DATABASE tempdb MODIFY FILE "
        "(NAME = N'tempdev', FILENAME = N'/mnt/temp/tempdb.mdf');",
        "-- then restart the server, which creates the files there",
    ),
    back_up_log=(
        "BACKUP LOG [x] TO DISK = N'PATH/x.trn';    -- every few minutes, by a job",
        "ALTER DATABASE [x] SET RECOVERY SIMPLE;    -- or, if the last full backup suffices",
    ),
)
