"""Systems on recorded machines: trees of ``proc`` and ``sys``, and settings of servers."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from dyno import host
from dyno.contracts.advice import Catalog, IndexFacts, TableFacts, dialect
from dyno.decide.advise.recorded import grouped
from dyno.decide.advise.system import Database, Facts, System, Work
from dyno.host.storage import storage_facts
from tests.host.machine import CPUINFO_X86, add_disk, write

GIB, GB = 1 << 30, 10**9
TODAY = date(2026, 11, 26)

MEMINFO = """\
MemTotal:       67108864 kB
MemAvailable:   8388608 kB
SwapTotal:       2097152 kB
SwapFree:        2097152 kB
HugePages_Total:    8700
HugePages_Free:     8700
Hugepagesize:       2048 kB
"""

NODE = "sys/devices/system/node"
CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
THP = "sys/kernel/mm/transparent_hugepage/enabled"

MACHINE: dict[str, str] = {
    "proc/cpuinfo": CPUINFO_X86,
    "proc/meminfo": MEMINFO,
    "proc/sys/vm/swappiness": "1",
    "proc/sys/vm/dirty_background_bytes": "268435456",
    "proc/sys/vm/dirty_background_ratio": "0",
    "proc/sys/vm/zone_reclaim_mode": "0",
    "proc/sys/kernel/numa_balancing": "0",
    THP: "always [madvise] never",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "performance",
    f"{CLOCK}/current_clocksource": "tsc",
    f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm",
    f"{NODE}/node0/x": "",
    f"{NODE}/node1/x": "",
    **{
        f"sys/class/net/{name}/{file}": text
        for name in ("eth0", "eth1")
        for file, text in {
            "type": "1",
            "mtu": "9000",
            "speed": "10000",
            "duplex": "full",
            "operstate": "up",
            "device/vendor": "0x8086",
        }.items()
    },
}
"""A machine with which no rule finds fault."""

FLASH = {
    "queue/rotational": "0",
    "queue/scheduler": "[none] mq-deadline",
    "queue/write_cache": "write back",
    "queue/physical_block_size": "4096",
    "queue/read_ahead_kb": "1024",
    "size": "1875385008",
}
ROLES = ("data", "log", "temp")

POSTGRESQL: dict[str, str] = {
    "autovacuum": "on",
    "block_size": "8192",
    "checkpoint_completion_target": "0.9",
    "checkpoint_timeout": "15min",
    "data_checksums": "on",
    "effective_cache_size": "48GB",
    "effective_io_concurrency": "64",
    "fsync": "on",
    "full_page_writes": "on",
    "huge_pages": "on",
    "max_connections": "100",
    "max_parallel_workers_per_gather": "2",
    "max_wal_size": "32GB",
    "min_wal_size": "8GB",
    "random_page_cost": "1.1",
    "shared_buffers": "16GB",
    "shared_preload_libraries": "pg_stat_statements",
    "synchronous_commit": "on",
    "temp_file_limit": "-1",
    "track_counts": "on",
    "track_io_timing": "on",
    "wal_init_zero": "on",
    "wal_level": "replica",
    "work_mem": "64MB",
}
MARIADB: dict[str, str] = {
    "innodb_autoextend_increment": "64",
    "innodb_buffer_pool_size": str(34 * GIB),
    "innodb_checksum_algorithm": "full_crc32",
    "innodb_doublewrite": "ON",
    "innodb_flush_log_at_trx_commit": "1",
    "innodb_flush_method": "O_DIRECT",
    "innodb_io_capacity": "2000",
    "innodb_log_file_size": str(40 * GIB),
    "innodb_page_size": "16384",
    "innodb_stats_auto_recalc": "ON",
    "large_pages": "ON",
    "log_bin": "ON",
    "max_connections": "200",
    "performance_schema": "ON",
    "query_cache_type": "OFF",
    "sort_buffer_size": "2097152",
}
SQLSERVER: dict[str, str] = {
    "columns of the widest column store": "16",
    "cost threshold for parallelism": "50",
    "delayed_durability_desc": "DISABLED",
    "filegroups growing file by file": "0",
    "files growing in percent": "0",
    "instant_file_initialization_enabled": "Y",
    "is_auto_close_on": "OFF",
    "is_auto_shrink_on": "OFF",
    "is_auto_update_stats_on": "ON",
    "max degree of parallelism": "1",
    "max server memory (MB)": "53248",
    "page_verify_option_desc": "CHECKSUM",
    "recovery_model_desc": "FULL",
    "sizes of tempdb data files": "1",
    "sql_memory_model_desc": "LOCK_PAGES",
    "startup -E": "ON",
    "tempdb data files": "2",
    "trace flag 834": "OFF",
    "user connections": "0",
    "work memory of a query, bytes": str(8 * GIB),
}
SERVERS = {
    "postgresql": (POSTGRESQL, "PostgreSQL 17.2 (Debian 17.2-1)"),
    "mysql": (MARIADB, "MariaDB 10.11.19-0+deb12u1"),
    "sqlserver": (SQLSERVER, "SQLServer 2022 (16.0.4135.4) Developer Edition"),
}

TABLES = (
    TableFacts("shop.item", 40 * GB, 10_000_000, 100_000, True, True),
    TableFacts("shop.sale_1", 10 * GB, 10_000_000, 0, True, True, "shop.sale"),
    TableFacts("shop.sale_2", 12 * GB, 10_000_000, 0, True, True, "shop.sale"),
)
INDEXES = (
    IndexFacts("shop.item_pkey", "shop.item", ("id",), True, GB, 100),
    IndexFacts("shop.item_by_name", "shop.item", ("name",), False, GB, 100),
)
COUNTERS = {
    "counted_s": 30 * 86400.0,
    "log_bytes": 30 * 86400.0 * 1e6,
    "checkpoints_timed": 2900.0,
    "checkpoints_forced": 10.0,
    "temp_bytes": 1e9,
    "growing_file": 79_000_000.0,
    "databases_bytes": 200.0 * GB,
    "huge_pages_used": 1.0,
    "log_backup_age_s": 900.0,
}


@dataclass(frozen=True)
class Planted:
    """What a system has instead of what the clean one has.

    Attributes:
        files: In the tree of the machine.
        disks: Of the disk of each role; a file of ``sys/block``, and its text.
        mounts: By role, type and options of the mount.
        volumes: Facts by role, that no tree of files can hold: sizes and remote disks.
        host: Facts that only a driver tells.
        settings: Of the server.
        catalog: Fields of the catalog; ``counters`` are added to those of the clean one.
        shared: The log and temporary files are on the device of the data.
        database: Fields of the database.
        found: What the evidence of the verdict contains.
        command: What a command contains.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    disks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mounts: Mapping[str, str] = field(default_factory=dict)
    volumes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    target: str = "postgresql"
    settings: Mapping[str, str] = field(default_factory=dict)
    catalog: Mapping[str, Any] = field(default_factory=dict)
    shared: bool = False
    database: Mapping[str, Any] = field(default_factory=dict)
    work: Work | None = "oltp"
    found: str = ""
    command: str = ""


def built(root: Path, planted: Planted) -> System:
    """A live system on a recorded machine under ``root``."""
    places = {role: root / "volumes" / role for role in ROLES}
    lines = ["21 1 8:99 / / rw,noatime - ext4 /dev/other rw"]
    for number, role in enumerate(ROLES):
        places[role].mkdir(parents=True)
        disk, carrier = f"nvme{number}n1", f"259:{2 * number + 1}"
        files = {**FLASH, **planted.disks.get(role, {})}
        part = {f"{disk}p1/start": files.pop("start", "2048")}
        name = {f"{disk}p1": carrier}
        add_disk(root, disk, f"259:{2 * number}", partitions=name, files={**files, **part})
        kind, _, options = planted.mounts.get(role, "xfs noatime").partition(" ")
        carrier = carrier if kind in {"xfs", "ext4", "btrfs"} else f"0:{50 + number}"
        lines.append(
            f"{30 + number} 21 {carrier} / {places[role]} rw,{options} - {kind} /dev/{disk}p1 rw"
        )
    write(root, {**MACHINE, "proc/self/mountinfo": "\n".join(lines), **planted.files})
    facts = host.collect(places["data"], root=root, window_s=0, wait=lambda _: None)
    facts = copy.deepcopy(facts)
    driver = {"pause_receive": True, "pause_transmit": True, "segmentation_offload": True}
    for one in facts["network"]["interfaces"]:
        one |= {**driver, **planted.host}
    space = {"size_bytes": 1000 * GB, "free_bytes": 600 * GB}
    volumes = {
        role: {
            **storage_facts(places["data" if planted.shared else role], root),
            **space,
            "block_bytes": 4096,
            **planted.volumes.get(role, {}),
        }
        for role in ROLES
    }
    devices = {role: (str(volumes[role]["device"]),) for role in ROLES}
    settings, version = SERVERS[planted.target]
    counters = {**COUNTERS, **planted.catalog.get("counters", {})}
    usual = Catalog({}, TABLES, INDEXES)
    database = Database(
        planted.target,
        f"{planted.target}://app@localhost/shop",
        version,
        {**settings, **planted.settings},
        dialect(planted.target),
        live=True,
        catalog=replace(usual, **{**planted.catalog, "counters": counters}),
        devices=devices,
        updated=False,
    )
    return System(
        "a recorded machine",
        Facts(facts, "it is not in the recorded tree"),
        grouped(volumes, "it is not in the recorded tree"),
        replace(database, **planted.database),
        work=planted.work,
        today=TODAY,
    )


def pg(found: str = "", command: str = "", **settings: str) -> Planted:
    return Planted(settings=settings, found=found, command=command)


def mariadb(found: str = "", command: str = "", **settings: str) -> Planted:
    return Planted(target="mysql", settings=settings, found=found, command=command)


def sqlserver(name: str, value: str, found: str = "", command: str = "") -> Planted:
    """A setting of SQL Server, whose names are not Python's."""
    return Planted(target="sqlserver", settings={name: value}, found=found, command=command)


def files(name: str, text: str, found: str = "", command: str = "") -> Planted:
    return Planted(files={name: text}, found=found, command=command)


def mount(role: str, text: str, found: str = "", command: str = "") -> Planted:
    return Planted(mounts={role: text}, found=found, command=command)
