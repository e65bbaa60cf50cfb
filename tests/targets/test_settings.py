"""Settings follow the machine, and are what a server takes."""

from __future__ import annotations

import pytest

from dyno.contracts.target import Limits
from dyno.servers.volume import VolumeFacts
from dyno.targets.postgresql.settings import conf, settings
from dyno.targets.postgresql.target import PostgresTarget

GIB = 1 << 30
DISK = VolumeFacts(rotational=False, space_bytes=64 * GIB, shared_memory_bytes=8 * GIB)


def mib(value: str) -> int:
    assert value.endswith("MB")
    return int(value[:-2])


@pytest.mark.parametrize("cap_gib", [1, 4, 12, 64, 512])
@pytest.mark.parametrize("threads", [1, 2, 16, 128])
def test_memory_stays_inside_the_cap(cap_gib: int, threads: int) -> None:
    found = settings(Limits(cap_gib * GIB, threads), DISK, io_uring=False)
    cap = cap_gib * 1024
    assert mib(found["shared_buffers"]) == cap // 2
    assert mib(found["effective_cache_size"]) == cap
    processes, nodes, hash_factor = threads + 1, 2, 2
    sorts = mib(found["work_mem"]) * processes * nodes * hash_factor
    assert sorts <= max(cap // 4, 4 * processes * nodes * hash_factor)
    # Two index builds at once, beside the cache.
    assert 2 * mib(found["maintenance_work_mem"]) <= cap // 4
    assert found["max_parallel_workers_per_gather"] == str(threads)
    assert int(found["max_worker_processes"]) >= threads


def test_durability_is_never_traded_for_speed() -> None:
    found = settings(Limits(GIB, 2), DISK, io_uring=True)
    for name in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
        assert found[name] == "on"
    assert found["io_method"] == "io_uring"


def test_the_log_leaves_space_on_the_volume() -> None:
    for free in (GIB, 20 * GIB, 10_000 * GIB):
        found = settings(Limits(GIB, 2), VolumeFacts(None, free, GIB), io_uring=False)
        assert 256 <= mib(found["max_wal_size"]) <= max(256, free // 10 // 2**20)
        assert mib(found["max_wal_size"]) <= 16 * 1024
        assert mib(found["min_wal_size"]) <= mib(found["max_wal_size"])


def test_the_device_decides_what_a_random_page_costs() -> None:
    for rotational, cost in ((True, "4"), (False, "1.1"), (None, "1.1")):
        volume = VolumeFacts(rotational, 100 * GIB, GIB)
        found = settings(Limits(GIB, 2), volume, io_uring=False)
        assert found["random_page_cost"] == cost


def test_small_shared_memory_is_not_relied_on() -> None:
    volume = VolumeFacts(None, 100 * GIB, 64 << 20)
    assert (
        settings(Limits(4 * GIB, 2), volume, io_uring=False)["dynamic_shared_memory_type"] == "sysv"
    )


def test_values_are_quoted() -> None:
    assert "a = 'it''s \\\\x'\n" in conf({"a": "it's \\x"})


def test_the_server_runs_with_them(postgres: PostgresTarget) -> None:
    facts = postgres.facts()
    assert facts.version.startswith("PostgreSQL 18")
    assert facts.settings["shared_buffers"] == "128MB"
    assert facts.settings["fsync"] == "on"
    assert facts.settings["data_checksums"] == "on"
    wanted = settings(Limits(GIB, 2), DISK, io_uring=False)
    assert set(wanted) <= set(facts.settings)


def test_the_facts_of_a_volume_are_read() -> None:
    from pathlib import Path

    facts = VolumeFacts.of(Path("/"))
    assert facts.space_bytes.bit_count() == 1
    assert facts.rotational in {True, False, None}
