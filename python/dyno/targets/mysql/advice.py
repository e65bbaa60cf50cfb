"""MariaDB and MySQL in the terms of advice."""

from __future__ import annotations

import re
from datetime import date

from dyno.contracts.advice import Dialect, Knob, Value
from dyno.targets.mysql.repartition import PARTITIONING
from dyno.targets.wording import among, number, size, switch, times, whole, word

_MIB = 1 << 20
_ONE_THREAD = "a query runs in one thread"
_BY_FILL = "InnoDB writes dirty pages by how full the log is, not at intervals"


def _assign(knob: Knob, value: str) -> tuple[str, ...]:
    line = f"{knob.name} = {value}    # in [mysqld] of the option file"
    if knob.restart:
        return (f"{line}; then restart the server",)
    return (f"SET GLOBAL {knob.name} = {value};", f"{line}, to keep it")


def _on_off(value: Value) -> str:
    return "ON" if value in (True, "on") else "OFF"


def _series(version: str) -> str:
    """``MariaDB 10.11`` of ``MariaDB 10.11.19-0+deb12u1``."""
    found = re.match(r"\w+ \d+\.\d+", version)
    return found[0] if found else version


DIALECT = Dialect(
    grammar="mysql",
    columnar="",
    partitioning=PARTITIONING,
    knobs={
        "cache": (Knob("innodb_buffer_pool_size", size, whole),),
        "checksums": (Knob("innodb_checksum_algorithm", lambda text: word(text) != "none"),),
        "connections": (Knob("max_connections", number, whole),),
        "direct_io": (
            Knob(
                "innodb_flush_method",
                among("o_direct", "o_direct_no_fsync"),
                lambda value: "O_DIRECT" if value else "fsync",
                restart=True,
            ),
        ),
        "durable_commit": (
            Knob("innodb_flush_log_at_trx_commit", among("1"), lambda value: "1" if value else "2"),
        ),
        "file_growth": (
            Knob(
                "innodb_autoextend_increment", times(_MIB), lambda value: whole(float(value) / _MIB)
            ),
        ),
        "flushed_log": (
            Knob(
                "innodb_flush_method",
                lambda text: word(text) != "nosync",
                lambda _: "O_DIRECT",
                restart=True,
            ),
        ),
        "huge_pages": (
            Knob(
                "large_pages",
                lambda text: "on" if switch(text) else "off",
                _on_off,
                restart=True,
            ),
        ),
        "io_capacity": (Knob("innodb_io_capacity", number, whole),),
        "log_buffer": (Knob("innodb_log_buffer_size", size, whole, restart=True),),
        "log_capacity": (
            Knob("innodb_redo_log_capacity", size, whole),
            Knob("innodb_log_file_size", size, whole),
        ),
        "page": (Knob("innodb_page_size", size),),
        "query_cache": (Knob("query_cache_type", among("on", "1", "demand", "2"), _on_off),),
        "recoverable": (
            Knob("log_bin", switch, lambda value: "binlog" if value else "OFF", restart=True),
        ),
        "statement_counts": (Knob("performance_schema", switch, _on_off, restart=True),),
        "statistics": (Knob("innodb_stats_auto_recalc", switch, _on_off),),
        "temp_limit": (Knob("max_tmp_total_space_usage", size, whole),),
        "torn_pages": (
            Knob(
                "innodb_doublewrite",
                among("on", "1", "fast", "detect_and_recover"),
                _on_off,
                restart=True,
            ),
        ),
        "work_memory": (Knob("sort_buffer_size", size, whole),),
    },
    lacks={
        "autovacuum": "InnoDB always purges old row versions in the background",
        "checkpoint_interval": _BY_FILL,
        "checkpoint_spread": _BY_FILL,
        "io_concurrency": "InnoDB reads ahead with threads of its own",
        "io_timing": "performance_schema times I/O",
        "log_floor": "the redo log has a fixed size",
        "log_preallocated": "InnoDB always writes the redo log in full when it creates it",
        "parallel": _ONE_THREAD,
        "planner_cache": "the optimizer knows the buffer pool",
        "random_cost": "the optimizer has no cost of a random page against a sequential one",
    },
    assign=_assign,
    analyse="ANALYZE TABLE {table};",
    drop_index="ALTER TABLE {table} DROP INDEX {index};",
    clean="OPTIMIZE TABLE {table};",
    upgrade="upgrade to a supported series, and then run mariadb-upgrade",
    ends={
        "MariaDB 10.5": date(2025, 6, 24),
        "MariaDB 10.6": date(2026, 7, 6),
        "MariaDB 10.11": date(2028, 2, 16),
        "MySQL 8.0": date(2026, 4, 30),
        "MySQL 8.4": date(2032, 4, 30),
    },
    series=_series,
    cache_share=0.5,
    move_log=(
        "# with the server stopped: mv DATA-FOLDER/ib_logfile* /mnt/log/",
        "innodb_log_group_home_dir = /mnt/log    # in [mysqld] of the option file",
    ),
    move_temp=("tmpdir = /mnt/temp    # in [mysqld] of the option file; then restart the server",),
    rebuild={
        "checksums": "innodb_checksum_algorithm = full_crc32    # in [mysqld]; then restart, and "
        "rebuild each table: ALTER TABLE name FORCE;"
    },
)
