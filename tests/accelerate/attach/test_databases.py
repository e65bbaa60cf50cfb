"""Databases on a folder with a cache whose daemons are killed again and again."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.accelerate.attach.conftest import Volume
from tests.conftest import missing
from tests.process import assert_valid, dyno
from tests.targets.debian import SERVER_UID, as_server

EVERY_S = 1.5
DEBIAN = Path("/usr/lib/postgresql")
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


class Cluster:
    """Debian's PostgreSQL with checksums and syncs, which is stopped and started in a test."""

    def __init__(self, programs: Path, folder: Path, socket: Path) -> None:
        self.programs, self.folder = programs, folder
        self.at = ("-h", str(socket), "-p", "5499", "-U", "postgres")
        self._socket = socket

    def run(self, program: str, *arguments: str | Path) -> str:
        command = [*as_server(), str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd="/",
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def start(self) -> None:
        options = f"-k {self._socket} -p 5499 -c listen_addresses= -c shared_buffers=8MB"
        self.run("pg_ctl", "-D", self.folder, "-w", "-o", options, "-l", f"{self._socket}/log",
                 "start")  # fmt: skip

    def stop(self) -> None:
        self.run("pg_ctl", "-D", self.folder, "-w", "-m", "fast", "stop")


@pytest.fixture
def cluster(volume: Volume) -> Iterator[Cluster]:
    found = sorted(DEBIAN.glob("*/bin"))
    if not found:
        missing("the operating system's PostgreSQL")
    for folder in (volume.origin, *volume.origin.parents):
        if folder.stat().st_uid == 0 and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    socket = volume.origin.parent / "s"
    socket.mkdir()
    for folder in (volume.origin, socket):
        os.chown(folder, SERVER_UID, SERVER_UID)
    cluster = Cluster(found[-1], volume.origin / "main", socket)
    volume.attach("--work", "oltp")
    cluster.run("initdb", "-D", cluster.folder, "--data-checksums", "-A", "trust", "-U", "postgres")
    cluster.start()
    yield cluster
    if (cluster.folder / "postmaster.pid").exists():
        cluster.stop()


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
    assert cluster.run("psql", *cluster.at, "-Atc", sums).strip() == "t"
