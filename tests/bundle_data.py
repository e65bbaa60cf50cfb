"""Plausible values of a two-processor machine, from which ``bundles`` builds runs."""

from __future__ import annotations

from typing import Any

from dyno.bundle.inside import Inside

GIB = 1 << 30
SECOND = 1_000_000_000
START_NS = 1_795_183_200 * SECOND

HOST: dict[str, Any] = {
    "cpu": {
        "model": "Example 9000 2.9 GHz",
        "logical": 2,
        "usable": 2,
        "physical": 2,
        "sockets": 1,
        "mhz": 2900.0,
        "max_mhz": None,
        "governor": None,
        "turbo": None,
        "smt": False,
        "numa_nodes": 1,
    },
    "memory": {
        "total_bytes": 24 * GIB,
        "available_bytes": 21 * GIB,
        "transparent_huge_pages": "always",
        "huge_pages_total": 0,
        "swap_total_bytes": 0,
        "swap_used_bytes": 0,
    },
    "kernel": {"system": "Linux", "release": "6.12.9", "version": "#1 SMP", "machine": "x86_64"},
    "os": {"id": "debian", "version": "13", "name": "Debian GNU/Linux 13 (trixie)"},
    "virtualisation": {
        "virtual": True,
        "hypervisor": None,
        "vendor": "QEMU",
        "product": "Standard PC",
        "container": None,
    },
    "cgroup": {"version": 2, "memory_limit_bytes": None, "cpu_quota": None},
    "storage": {
        "path": "/srv/dyno-runs",
        "mount_point": "/srv",
        "fs_type": "ext4",
        "fs_kind": "disk",
        "fs_source": "/dev/vda1",
        "options": ["rw", "relatime"],
        "size_bytes": 250_000_000_000,
        "free_bytes": 120_000_000_000,
        "device": "vda1",
        "disk": "vda",
        "subject": "vda",
        "disks": [
            {
                "name": "vda",
                "model": "Virtual disk",
                "size_bytes": 256_000_000_000,
                "rotational": False,
                "scheduler": "none",
                "write_cache": "write back",
                "requests": 256,
                "logical_block_bytes": 512,
                "physical_block_bytes": 4096,
            }
        ],
    },
    "clock": {"source": "tsc", "available": ["tsc", "kvm-clock"]},
    "activity": {
        "load_average": [0.12, 0.2, 0.18],
        "window_s": 0.5,
        "idle_percent": 98.0,
        "steal_percent": 0.0,
        "steal_percent_since_boot": 0.1,
    },
    "io_uring": {"allowed": True, "reason": None},
    "dyno": {"version": "0.1.0", "python": "3.11.7", "implementation": "CPython"},
}

TPCH_ROWS = {
    "region": 5,
    "nation": 25,
    "supplier": 10_000,
    "customer": 150_000,
    "part": 200_000,
    "partsupp": 800_000,
    "orders": 1_500_000,
    "lineitem": 6_001_215,
}
TPCH_BYTES = 1_060_000_000

# The order of stream 0, and seconds by query.
POWER_ORDER = (14, 2, 9, 20, 6, 17, 18, 8, 21, 13, 3, 22, 16, 4, 11, 15, 1, 10, 19, 5, 7, 12)
ROW_SECONDS = (
    *(1.94, 0.21, 0.88, 0.52, 0.61, 0.48, 0.72, 0.44, 2.41, 0.79, 0.19),
    *(0.74, 1.36, 0.43, 0.91, 0.47, 0.006, 3.85, 0.09, 0.35, 1.27, 0.16),
)
COLUMN_SECONDS = (
    *(0.051, 0.012, 0.037, 0.034, 0.036, 0.011, 0.035, 0.036, 0.094, 0.052, 0.008),
    *(0.028, 0.083, 0.023, 0.019, 0.024, 0.031, 0.068, 0.037, 0.029, 0.104, 0.019),
)

OPERATIONS = {
    # Share of the mix, service time relative to New-Order's, share of prescribed rollbacks.
    "new_order": (10 / 23, 1.0, 0.01),
    "payment": (10 / 23, 0.55, 0.0),
    "order_status": (1 / 23, 0.2, 0.0),
    "delivery": (1 / 23, 2.1, 0.0),
    "stock_level": (1 / 23, 0.7, 0.0),
}

# Users: transactions a second, median service of New-Order (ms), CPU %, disk %, driver CPU share.
LEVELS = {
    1: (412.0, 2.9, 41.0, 58.0, 0.05),
    4: (1204.0, 3.9, 74.0, 66.0, 0.14),
    16: (1687.0, 11.2, 96.0, 61.0, 0.2),
}

# The same, of runs with other levels.
MORE_LEVELS = {
    2: (760.0, 3.1, 52.0, 60.0, 0.08),
    8: (1490.0, 5.6, 82.0, 64.0, 0.16),
    9: (1541.0, 6.4, 84.0, 64.0, 0.17),
    10: (1570.0, 6.9, 86.0, 63.0, 0.18),
    11: (1602.0, 8.4, 89.0, 63.0, 0.18),
}

# Depth: IOPS, p50 latency in ms. The last depth of the mix is beyond a ceiling of 20 ms.
READ_CURVE = {
    1: (9_800, 0.098),
    2: (18_900, 0.102),
    4: (34_100, 0.113),
    8: (55_600, 0.14),
    16: (73_800, 0.21),
    32: (81_900, 0.38),
    64: (84_600, 0.74),
    128: (85_300, 1.48),
    256: (85_100, 2.96),
}
MIXED_CURVE = {
    1: (7_900, 0.12),
    2: (14_800, 0.13),
    4: (25_100, 0.155),
    8: (37_300, 0.21),
    16: (44_900, 0.35),
    32: (48_800, 0.64),
    64: (50_200, 1.25),
    128: (50_700, 2.5),
    256: (49_100, 11.5),
}
SEQUENTIAL = {
    "sequential_write": {1: 415.0, 4: 868.0, 16: 921.0},
    "sequential_read": {1: 640.0, 4: 1_410.0, 16: 1_585.0},
}


INSIDE: dict[Inside, float] = {
    Inside.logical_reads: 90_000, Inside.physical_reads: 2_600, Inside.physical_writes: 700,
    Inside.log_mbps: 14, Inside.log_flushes: 380, Inside.log_flush: 2.4, Inside.log_write: 0.06,
    Inside.checkpoint_writes: 310, Inside.temp_written: 3.5, Inside.temp_files: 2,
    Inside.temp_file: 1_800_000, Inside.lock_waits: 3.1, Inside.locks: 41, Inside.deadlocks: 0,
    Inside.dead_rows: 120_000, Inside.connections: 19, Inside.commits: 420,
}  # fmt: skip

STATEMENTS: list[dict[str, Any]] = [
    {"statement": "101", "text": "SELECT s_quantity, s_data FROM stock WHERE s_i_id = $1",
     "calls": 60_000, "total_ms": 21_000.0, "min_ms": 0.05, "max_ms": 48.0, "rows": 60_000,
     "logical_reads": 480_000, "physical_reads": 21_000, "temp_bytes": 0, "plan": None},
    {"statement": "102", "text": "UPDATE district SET d_ytd = d_ytd + $1 WHERE d_id = $2",
     "calls": 9_000, "total_ms": 14_000.0, "min_ms": 0.08, "max_ms": 900.0, "rows": 9_000,
     "logical_reads": 90_000, "physical_reads": 20, "temp_bytes": 0, "plan": None},
    {"statement": "103", "text": "SELECT count(DISTINCT s_i_id)\n  FROM order_line, stock",
     "calls": 800, "total_ms": 7_000.0, "min_ms": None, "max_ms": None, "rows": 800,
     "logical_reads": 700_000, "physical_reads": 900, "temp_bytes": 64_000_000,
     "plan": "Aggregate\n  ->  Sort\n"},
]  # fmt: skip

RELATIONS: list[dict[str, Any]] = [
    {"relation": "tpcc.stock", "kind": "table", "of_table": "tpcc.stock",
     "logical_reads": 500_000, "physical_reads": 20_000, "writes": 60_000, "read_ms": 9_000.0,
     "bytes": 190_000_000},
    {"relation": "tpcc.stock_pkey", "kind": "index", "of_table": "tpcc.stock",
     "logical_reads": 180_000, "physical_reads": 1_000, "writes": None, "read_ms": 300.0,
     "bytes": 11_000_000},
    {"relation": "tpcc.order_line_1", "kind": "table", "of_table": "tpcc.order_line",
     "logical_reads": 300_000, "physical_reads": 6_000, "writes": 90_000, "read_ms": None,
     "bytes": 210_000_000},
    {"relation": "tpcc.order_line_2", "kind": "table", "of_table": "tpcc.order_line",
     "logical_reads": 200_000, "physical_reads": 3_000, "writes": 30_000, "read_ms": None,
     "bytes": 90_000_000},
]  # fmt: skip
