"""A planted violation and a clean system for every rule, in the words of two engines."""

from __future__ import annotations

from dyno.contracts.advice import IndexFacts, TableFacts
from tests.decide.advise.systems import (
    CLOCK,
    CPU,
    GB,
    INDEXES,
    MEMINFO,
    TABLES,
    THP,
    Planted,
    files,
    mariadb,
    mount,
    pg,
    sqlserver,
)

CLEAN = Planted()
MARIADB = Planted(target="mysql")
SQLSERVER = Planted(target="sqlserver")
DSS = Planted(work="dss")

REMOTE = {"data": {"remote": True, "layers": ["multipath"]}}
NFS = {"data": "nfs4 noatime"}
BEYOND = GB // 10

CASES: dict[str, tuple[Planted, Planted]] = {
    # memory
    "memory-share": (
        pg("62 GiB", "shared_buffers = '16384MB'", shared_buffers="62GB"),
        CLEAN,
    ),
    "cache-size": (pg("128 MiB", "= '16384MB'", shared_buffers="128MB"), CLEAN),
    "session-memory": (
        pg("1,000 × work_mem 64 MiB = 78.5 GiB", "max_connections", max_connections="1000"),
        CLEAN,
    ),
    "swap-used": (
        files(
            "proc/meminfo",
            MEMINFO.replace("SwapFree:        2097152", "SwapFree:        1048576"),
            "1.07 GB",
            "swapoff",
        ),
        CLEAN,
    ),
    "swappiness": (
        files("proc/sys/vm/swappiness", "60", "vm.swappiness = 60", "sysctl -w vm.swappiness=10"),
        CLEAN,
    ),
    "huge-pages": (
        Planted(
            files={"proc/meminfo": MEMINFO.replace("8700", "0")},
            catalog={"counters": {"huge_pages_used": 0.0}},
            found="0 B reserved for a cache of 16 GiB",
            command="vm.nr_hugepages=8602",
        ),
        CLEAN,
    ),
    "transparent-huge-pages": (
        files(THP, "[always] madvise never", "always", "echo madvise"),
        CLEAN,
    ),
    "dirty-memory": (
        Planted(
            files={
                "proc/sys/vm/dirty_background_bytes": "0",
                "proc/sys/vm/dirty_background_ratio": "20",
            },
            found="1.60 GiB",
            command="vm.dirty_background_bytes=",
        ),
        CLEAN,
    ),
    "direct-io": (
        mariadb("fsync", "innodb_flush_method = O_DIRECT", innodb_flush_method="fsync"),
        MARIADB,
    ),
    "locked-memory": (
        sqlserver("sql_memory_model_desc", "CONVENTIONAL", "= CONVENTIONAL", "Lock pages"),
        SQLSERVER,
    ),
    "large-page-flag": (sqlserver("trace flag 834", "ON", "of 16 columns", "-T834"), SQLSERVER),
    "column-store-memory": (
        sqlserver(
            "work memory of a query, bytes",
            str(100 << 20),
            "100 MiB for a query; 16 columns and 1 thread",
            "REQUEST_MAX_MEMORY_GRANT_PERCENT = 50",
        ),
        SQLSERVER,
    ),
    # CPU
    "query-cpus": (
        sqlserver(
            "max degree of parallelism",
            "0",
            "= 0 on 2 CPUs, 2 NUMA nodes",
            "EXEC sys.sp_configure N'max degree of parallelism', 1; RECONFIGURE;",
        ),
        SQLSERVER,
    ),
    "parallel-cost": (
        sqlserver("cost threshold for parallelism", "5", "= 5", "parallelism', 50; RECONFIGURE;"),
        SQLSERVER,
    ),
    "cpu-governor": (
        files(f"{CPU}/cpu1/cpufreq/scaling_governor", "powersave", "powersave", "cpupower"),
        CLEAN,
    ),
    "clock-source": (
        files(f"{CLOCK}/current_clocksource", "hpet", "hpet", "echo tsc >"),
        CLEAN,
    ),
    "numa-reclaim": (files("proc/sys/vm/zone_reclaim_mode", "1", "= 1", "=0"), CLEAN),
    "numa-balancing": (files("proc/sys/kernel/numa_balancing", "1", "= 1", "=0"), CLEAN),
    "cpu-quota": (
        Planted(
            files={
                "proc/self/cgroup": "0::/db",
                "sys/fs/cgroup/cgroup.controllers": "cpu memory",
                "sys/fs/cgroup/db/cpu.max": "150000 100000",
                "sys/fs/cgroup/db/memory.max": "max",
                "proc/self/mountinfo": "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
            },
            found="1.5 of 2 CPUs",
            command="cpuset",
        ),
        CLEAN,
    ),
    "parallel-workers": (
        pg("= 64", "'", max_parallel_workers_per_gather="64"),
        CLEAN,
    ),
    # storage
    "file-system": (mount("data", "tmpfs noatime", "tmpfs", "move its folder"), CLEAN),
    "temp-device": (Planted(shared=True, found="on nvme0n1p1", command="TABLESPACE"), CLEAN),
    "temp-space": (
        Planted(
            volumes={"temp": {"free_bytes": 30 * GB}},
            found="30 GB free",
            command="temp_tablespaces",
        ),
        CLEAN,
    ),
    "free-space": (
        Planted(volumes={"data": {"free_bytes": 40 * GB}}, found="40 GB free", command="lvextend"),
        CLEAN,
    ),
    "fill-level": (
        Planted(volumes={"log": {"free_bytes": 100 * GB}}, found="90 % full", command="lvextend"),
        CLEAN,
    ),
    "file-system-block": (
        Planted(
            volumes={"data": {"block_bytes": 1024}}, found="blocks of 1 KiB", command="-b 4096"
        ),
        CLEAN,
    ),
    "partition-alignment": (
        Planted(disks={"data": {"start": "63"}}, found="byte 32,256", command="parted"),
        CLEAN,
    ),
    "access-times": (mount("data", "xfs relatime", "relatime", "remount,noatime"), CLEAN),
    "discard-mount": (mount("data", "ext4 noatime,discard", "discard", "nodiscard"), CLEAN),
    "io-scheduler": (
        Planted(
            disks={"data": {"queue/scheduler": "none [bfq]"}},
            found="nvme0n1: bfq",
            command="echo none > /sys/block/nvme0n1/queue/scheduler",
        ),
        CLEAN,
    ),
    "read-ahead": (
        Planted(
            disks={"data": {"queue/read_ahead_kb": "128"}},
            work="dss",
            found="128 KiB",
            command="echo 1024",
        ),
        DSS,
    ),
    "rotational-flag": (
        Planted(
            disks={"data": {"queue/rotational": "1"}}, found="nvme0n1: rotational", command="echo 0"
        ),
        CLEAN,
    ),
    "raid-level": (
        Planted(
            volumes={"data": {"layers": ["LVM", "raid5"]}},
            found="write penalty 4",
            command="level=10",
        ),
        Planted(volumes={"data": {"layers": ["raid10"]}}),
    ),
    "multipath": (
        Planted(
            volumes={
                "data": {
                    "remote": True,
                    "layers": [],
                    "disks": [{"name": "sdb", "rotational": False}],
                }
            },
            found="one path",
            command="multipath",
        ),
        Planted(volumes=REMOTE),
    ),
    "data-growth": (
        Planted(
            target="mysql",
            catalog={"counters": {"growing_file": 2 * GB}},
            found="67.1 MB for a file of 2 GB",
            command="innodb_autoextend_increment = 191",
        ),
        MARIADB,
    ),
    "even-partitions": (
        Planted(
            catalog={
                "tables": [
                    *(TableFacts(f"s_{n}", BEYOND, 1, 0, True, True, "s") for n in range(9)),
                    TableFacts("s_9", 9 * GB, 1, 0, True, True, "s"),
                ]
            },
            found="largest of 10 partitions 9 GB, mean 990 MB",
            command="layouts",
        ),
        CLEAN,
    ),
    "io-capacity": (
        mariadb("= 200 on flash", "innodb_io_capacity = 2000", innodb_io_capacity="200"),
        MARIADB,
    ),
    "io-concurrency": (pg("= 1 on flash", "= '64'", effective_io_concurrency="1"), CLEAN),
    "auto-shrink": (sqlserver("is_auto_shrink_on", "ON", "= ON", "AUTO_SHRINK OFF"), SQLSERVER),
    "percent-growth": (
        sqlserver("files growing in percent", "2", "2 files grow in percent", "FILEGROWTH = 64MB"),
        SQLSERVER,
    ),
    "even-growth": (
        sqlserver(
            "filegroups growing file by file", "1", "1 filegroup with several", "AUTOGROW_ALL_FILES"
        ),
        SQLSERVER,
    ),
    "large-extents": (
        Planted(
            target="sqlserver",
            settings={"startup -E": "OFF"},
            work="dss",
            found="startup -E = OFF",
            command="parameter -E",
        ),
        Planted(target="sqlserver", work="dss"),
    ),
    "instant-files": (
        sqlserver("instant_file_initialization_enabled", "N", "= N", "volume maintenance tasks"),
        SQLSERVER,
    ),
    "temp-files": (
        sqlserver("tempdb data files", "1", "1 file on 2 CPUs", "until there are 2"),
        SQLSERVER,
    ),
    # network
    "nic-speed": (
        files("sys/class/net/eth0/speed", "100", "100 Mbit/s", "ethtool eth0"),
        CLEAN,
    ),
    "jumbo-frames": (
        Planted(
            mounts=NFS, files={"sys/class/net/eth1/mtu": "1500"}, found="1,500", command="mtu 9000"
        ),
        Planted(mounts=NFS),
    ),
    "flow-control": (
        Planted(
            mounts=NFS, host={"pause_transmit": False}, found="transmit off", command="-A eth0"
        ),
        Planted(mounts=NFS),
    ),
    "nic-offloads": (
        Planted(host={"segmentation_offload": False}, found="tso off", command="tso on"),
        CLEAN,
    ),
    "nic-paths": (
        Planted(
            mounts=NFS,
            files={"sys/class/net/eth1/operstate": "down"},
            found="1 interface: eth0",
            command="bond",
        ),
        Planted(mounts=NFS),
    ),
    # durability
    "durable-commit": (
        pg("= off", "synchronous_commit = 'on'", synchronous_commit="off"),
        CLEAN,
    ),
    "flushed-log": (pg("fsync = off", "fsync = 'on'", fsync="off"), CLEAN),
    "torn-pages": (pg("= off", "full_page_writes = 'on'", full_page_writes="off"), CLEAN),
    "checksums": (pg("= off", "pg_checksums --enable", data_checksums="off"), CLEAN),
    "recovery-mode": (pg("= minimal", "wal_level = 'replica'", wal_level="minimal"), CLEAN),
    "unlogged-tables": (
        Planted(
            catalog={"tables": [*TABLES, TableFacts("shop.cart", 1, 1, 0, True, False)]},
            found="1 unlogged table: shop.cart",
            command="ALTER TABLE shop.cart SET LOGGED;",
        ),
        CLEAN,
    ),
    "write-barriers": (mount("log", "ext4 noatime,nobarrier", "nobarrier", "barrier"), CLEAN),
    "delayed-commits": (
        sqlserver(
            "delayed_durability_desc", "ALLOWED", "= ALLOWED", "SET DELAYED_DURABILITY = DISABLED;"
        ),
        SQLSERVER,
    ),
    "log-backups": (
        Planted(
            target="sqlserver",
            catalog={"counters": {"log_backup_age_s": 3.0 * 86400}},
            found="no log backup for 72 hours",
            command="BACKUP LOG",
        ),
        SQLSERVER,
    ),
    # log
    "log-device": (Planted(shared=True, found="on nvme0n1p1", command="pg_wal"), CLEAN),
    "log-shrink": (pg("80 MiB of 32 GiB", "= '8192MB'", min_wal_size="80MB"), CLEAN),
    "log-preallocation": (
        Planted(
            settings={"wal_init_zero": "off"}, found="= off on xfs", command="wal_init_zero = 'on'"
        ),
        CLEAN,
    ),
    "forced-checkpoints": (
        Planted(
            catalog={"counters": {"checkpoints_forced": 9000.0}},
            found="75.6 % of 11,900",
            command="max_wal_size = '65536MB'",
        ),
        CLEAN,
    ),
    "checkpoint-interval": (pg("= 30s", "= '15min'", checkpoint_timeout="30s"), CLEAN),
    "checkpoint-spread": (
        pg("= 0.5", "= '0.9'", checkpoint_completion_target="0.5"),
        CLEAN,
    ),
    "log-capacity": (
        pg("1 GiB; 1.68 GiB of log in 30 min", "max_wal_size", max_wal_size="1GB"),
        CLEAN,
    ),
    # plans
    "table-statistics": (
        Planted(
            catalog={"tables": [*TABLES, TableFacts("shop.new", 1, 5, 0, False, True)]},
            found="1 table without: shop.new",
            command="ANALYZE shop.new;",
        ),
        CLEAN,
    ),
    "automatic-statistics": (pg("= off", "track_counts = 'on'", track_counts="off"), CLEAN),
    "random-cost": (pg("= 4 on flash", "= '1.1'", random_page_cost="4"), CLEAN),
    "planner-cache": (pg("4 GiB", "effective_cache_size", effective_cache_size="4GB"), CLEAN),
    "temp-spills": (
        Planted(
            catalog={"counters": {"temp_bytes": 30 * 24 * 5e9}},
            found="5 GB of temporary files an hour with 64 MiB",
            command="work_mem = '256MB'",
        ),
        CLEAN,
    ),
    "query-cache": (mariadb("= ON", "query_cache_type = OFF", query_cache_type="ON"), MARIADB),
    # care
    "auto-close": (sqlserver("is_auto_close_on", "ON", "= ON", "AUTO_CLOSE OFF"), SQLSERVER),
    "autovacuum": (pg("= off", "autovacuum = 'on'", autovacuum="off"), CLEAN),
    "dead-rows": (
        Planted(
            catalog={"tables": [TableFacts("shop.item", GB, 60_000, 40_000, True, True)]},
            found="shop.item: 40 %",
            command="VACUUM (ANALYZE) shop.item;",
        ),
        CLEAN,
    ),
    "duplicate-indexes": (
        Planted(
            catalog={
                "indexes": [*INDEXES, IndexFacts("shop.again", "shop.item", ("name",), False, 1, 1)]
            },
            found="1 duplicate: shop.item_by_name on shop.item",
            command="DROP INDEX CONCURRENTLY shop.item_by_name;",
        ),
        CLEAN,
    ),
    "unused-indexes": (
        Planted(
            catalog={
                "indexes": [*INDEXES, IndexFacts("shop.idle", "shop.item", ("a",), False, GB, 0)]
            },
            found="1 index without a use, 1 GB: shop.idle",
            command="DROP INDEX CONCURRENTLY shop.idle;",
        ),
        CLEAN,
    ),
    "version-support": (
        Planted(database={"version": "PostgreSQL 13.20"}, found="2025-11-13", command="pg_upgrade"),
        CLEAN,
    ),
    "pending-restart": (
        Planted(database={"updated": True}, found="replaced", command="systemctl"),
        CLEAN,
    ),
    "statement-counts": (
        pg("", "'auto_explain, pg_stat_statements'", shared_preload_libraries="auto_explain"),
        CLEAN,
    ),
    "io-timing": (pg("= off", "track_io_timing = 'on'", track_io_timing="off"), CLEAN),
}

# Faults of the rules above, in the words of SQL Server.
IN_SQL_SERVER: dict[str, Planted] = {
    "memory-share": sqlserver(
        "max server memory (MB)", "2147483647", "2,048 TiB", "memory (MB)', 49152; RECONFIGURE;"
    ),
    "cache-size": sqlserver("max server memory (MB)", "4096", "4 GiB", "max server memory (MB)"),
    "checksums": sqlserver(
        "page_verify_option_desc",
        "TORN_PAGE_DETECTION",
        "= TORN_PAGE_DETECTION",
        "ALTER DATABASE CURRENT SET PAGE_VERIFY CHECKSUM;",
    ),
    "durable-commit": sqlserver(
        "delayed_durability_desc", "FORCED", "= FORCED", "SET DELAYED_DURABILITY = DISABLED;"
    ),
    "recovery-mode": sqlserver(
        "recovery_model_desc", "SIMPLE", "= SIMPLE", "ALTER DATABASE CURRENT SET RECOVERY FULL;"
    ),
    "automatic-statistics": sqlserver(
        "is_auto_update_stats_on", "OFF", "= OFF", "AUTO_UPDATE_STATISTICS ON"
    ),
    "log-device": Planted(
        target="sqlserver", shared=True, found="on nvme0n1p1", command="MODIFY FILE"
    ),
    "temp-device": Planted(
        target="sqlserver", shared=True, found="on nvme0n1p1", command="ALTER DATABASE tempdb"
    ),
    "version-support": Planted(
        target="sqlserver",
        database={"version": "SQLServer 2016 (13.0.7000)"},
        found="2026-07-14",
        command="upgrade to SQLServer 2025",
    ),
}

# The same fault in the words of another engine.
TRANSLATED: dict[str, Planted] = {
    "memory-share": mariadb(
        "62 GiB", "innodb_buffer_pool_size", innodb_buffer_pool_size="66571993088"
    ),
    "cache-size": mariadb("128 MiB", "SET GLOBAL", innodb_buffer_pool_size="134217728"),
    "huge-pages": Planted(
        target="mysql",
        settings={"large_pages": "OFF"},
        catalog={"counters": {"huge_pages_used": 0.0}},
        command="large_pages = ON    # in [mysqld]",
    ),
    "durable-commit": mariadb("= 2", "= 1", innodb_flush_log_at_trx_commit="2"),
    "flushed-log": mariadb("nosync", "O_DIRECT", innodb_flush_method="nosync"),
    "torn-pages": mariadb("OFF", "innodb_doublewrite = ON", innodb_doublewrite="OFF"),
    "checksums": mariadb("none", "full_crc32", innodb_checksum_algorithm="none"),
    "recovery-mode": mariadb("OFF", "log_bin = binlog", log_bin="OFF"),
    "log-capacity": mariadb("96 MiB", "innodb_log_file_size", innodb_log_file_size="100663296"),
    "automatic-statistics": mariadb("OFF", "= ON", innodb_stats_auto_recalc="OFF"),
    "statement-counts": mariadb("OFF", "performance_schema = ON", performance_schema="OFF"),
    "version-support": Planted(
        target="mysql", database={"version": "MySQL 8.0.40"}, found="2026-04-30", command="upgrade"
    ),
}
