"""Databases on a folder with a cache whose daemons are killed again and again."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

from tests.accelerate.attach.cluster import Cluster
from tests.accelerate.attach.conftest import Volume
from tests.process import assert_valid, dyno

EVERY_S = 1.5
pytestmark = pytest.mark.long


@contextmanager
def kills(volume: Volume) -> Generator[list[int]]:
    """Kills the daemon every 1.5 s; yields the numbers of those that were killed."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not over.wait(EVERY_S):
            for daemon in volume.processes("daemon"):
                daemon.kill()
                killed.append(daemon.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("engine", ["postgresql", "mysql", "sqlite"])
def test_a_database_does_not_notice_kills(volume: Volume, engine: str) -> None:
    volume.attach()
    here = ("--target", f"embedded:{engine}", "--out", volume.origin)
    with kills(volume) as killed:
        assert_valid(dyno("load", "tpcc", *here, "--scale", "1", "--json"))
        work = ("--users", "4", "--warmup", "1s", "--duration", "10s", "--no-criteria", "--json")
        assert_valid(dyno("run", "tpcc", *here, *work))
    assert len(killed) > 5
    volume.detach()
    assert_valid(dyno("check", "tpcc", *here, "--json"))


@pytest.fixture
def cluster(volume: Volume) -> Iterator[Cluster]:
    cluster = Cluster(volume.origin)
    volume.attach("--work", "oltp")
    cluster.make()
    cluster.start()
    yield cluster
    cluster.end()


def test_checksums_and_indexes_are_right_after_kills(volume: Volume, cluster: Cluster) -> None:
    cluster.run("psql", *cluster.at, "-c", "CREATE EXTENSION amcheck")
    with kills(volume) as killed:
        cluster.run("pgbench", *cluster.at, "-i", "-s", "5", "-q", "postgres")
        report = cluster.run("pgbench", *cluster.at, "-c", "8", "-T", "12", "postgres")
        # After a crash of the server, too, with the log read through the mount.
        cluster.run("pg_ctl", "-D", cluster.folder, "-m", "immediate", "stop")
        cluster.start()
    assert "failed transactions: 0 " in report
    assert len(killed) > 5
    cluster.stop()
    volume.detach()
    cluster.run("pg_checksums", "--check", "-D", cluster.folder)
    cluster.start()
    cluster.run("pg_amcheck", "--heapallindexed", *cluster.at, "postgres")
    sums = (
        "SELECT sum(abalance) = (SELECT sum(bbalance) FROM pgbench_branches)"
        " AND sum(abalance) = (SELECT sum(delta) FROM pgbench_history) FROM pgbench_accounts"
    )
    assert cluster.ask(sums) == "t"
