"""PostgreSQL settings for a machine. Pure."""

from __future__ import annotations

from dyno.contracts.target import Limits
from dyno.servers.volume import VolumeFacts

_MIB = 1 << 20
_GIB = 1 << 30

MAX_CONNECTIONS = 1100
"""Enough for the 1,024 users of a search, the probes and maintenance."""


def settings(limits: Limits, volume: VolumeFacts, *, io_uring: bool) -> dict[str, str]:
    """The settings of the private server.

    Half of the cap is shared buffers; sorts, hashes and maintenance share the rest. Durability is
    full
    (fsync, synchronous commit, full page writes), because results without it would be flattering.
    The
    WAL omits only what replication needs, as there is none. A crashed server does not restart,
    because
    it would no longer be the one under test.

    Args:
        limits: Memory cap and CPUs of the engine.
        volume: The volume of the data.
        io_uring: Whether this server and kernel support it.

    Returns:
        Names and values for ``postgresql.conf``.
    """
    cap, threads = limits.memory_bytes, limits.threads
    parallel = max(1, threads)
    wal = _clamp(volume.space_bytes // 10, 256 * _MIB, 16 * _GIB)
    return {
        "max_connections": str(MAX_CONNECTIONS),
        "shared_buffers": _mib(max(cap // 2, 16 * _MIB)),
        "huge_pages": "try",
        "effective_cache_size": _mib(cap),
        "work_mem": _mib(work_mem(cap, parallel)),
        "maintenance_work_mem": _mib(_clamp(cap // 16, 32 * _MIB, 2 * _GIB)),
        "dynamic_shared_memory_type": _shared_memory(cap, volume),
        "max_worker_processes": str(max(8, parallel + 4)),
        "max_parallel_workers": str(parallel),
        "max_parallel_workers_per_gather": str(parallel),
        "max_parallel_maintenance_workers": str(parallel),
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        # Parallel loads fill the default of one segment (16 MB) faster than it is written.
        "wal_buffers": _mib(_clamp(cap // 64, 4 * _MIB, 64 * _MIB)),
        "max_wal_size": _mib(wal),
        "min_wal_size": _mib(max(wal // 4, 80 * _MIB)),
        "checkpoint_timeout": "10min",
        "checkpoint_completion_target": "0.9",
        "random_page_cost": "4" if volume.rotational else "1.1",
        "effective_io_concurrency": "16" if volume.rotational else "64",
        "io_method": "io_uring" if io_uring else "worker",
        "io_workers": str(_clamp(parallel, 3, 32)),
        "restart_after_crash": "off",
        "track_io_timing": "on",
        "track_wal_io_timing": "on",
        "autovacuum": "on",
        "log_checkpoints": "on",
        "log_line_prefix": "%m [%p] ",
        "log_timezone": "UTC",
        "timezone": "UTC",
    }


def work_mem(cap: int, parallel: int) -> int:
    """Memory of one sort, or half of one hash, in bytes.

    A quarter of the cap, divided among ``parallel`` workers and their leader. Each may have two
    large
    nodes, and a hash may take twice the setting (``hash_mem_multiplier`` = 2).
    """
    return _clamp(cap // 4 // ((parallel + 1) * 4), 4 * _MIB, 2 * _GIB)


def conf(values: dict[str, str]) -> str:
    """The text of ``postgresql.conf``."""
    lines = [f"{name} = '{_escaped(value)}'" for name, value in values.items()]
    return "\n".join(["# Written by Dyno at each start; changes are lost.", *lines, ""])


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _shared_memory(cap: int, volume: VolumeFacts) -> str:
    # Parallel hashes use shared memory; containers often limit /dev/shm to 64 MB, but not System V
    # segments.
    return "posix" if volume.shared_memory_bytes >= cap // 4 else "sysv"


def _mib(size: int) -> str:
    return f"{size // _MIB}MB"


def _clamp(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))
