"""Backups beside the work: they are whole, private and removed; and vacuums really happen."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from dyno import targets
from dyno.bundle.model import Check
from dyno.contracts.maintenance import (
    Job,
    Preparing,
    SpaceEstimate,
    Writer,
    Written,
    prepare,
    ready,
)
from dyno.contracts.target import Progress, Target
from dyno.errors import DiskFullError, Interrupted, TargetError, UsageError
from dyno.servers.identity import Identity
from dyno.targets import scratch
from dyno.targets.backup import Backup
from dyno.targets.postgresql import backup, binaries
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.target import PostgresTarget
from dyno.targets.postgresql.vacuum import Vacuum
from tests.maintained import fill
from tests.process import document, dyno, wait_until
from tests.targets.conftest import LIMITS
from tests.targets.debian import debian_server

PASSWORD = 'a:b\\c"#d'


def opened(url: str, out: Path) -> Any:
    return targets.open_target(targets.parse(url), out, LIMITS)


def once(job: Job, stop: threading.Event | None = None) -> list[Check]:
    return job.run(stop or threading.Event(), lambda done, total, text: None)


def rows(target: Target, *statements: str, workload: str = "tpch") -> list[tuple[Any, ...]]:
    with closing(target.connect(workload)) as session:
        return [session.execute(statement).rows for statement in statements][-1]


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Command lines of all programs that are started."""
    lines: list[str] = []
    spawn = Identity.spawn

    def noted(self: Identity, command: Sequence[str], *args: Any, **options: Any) -> Any:
        lines.append(" ".join(command))
        return spawn(self, command, *args, **options)

    monkeypatch.setattr(Identity, "spawn", noted)
    return lines


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("kept")
    with opened("embedded:postgresql", out) as target:
        fill(target)
    return out


@pytest.fixture(scope="module")
def postgresql(kept: Path) -> Iterator[PostgresTarget]:
    target = opened("embedded:postgresql", kept)
    ready(target, "backup")
    with target:
        yield target


def served_rows(data: Path) -> int:
    """Rows of a table in a data folder that a server is started in, and stopped."""
    become: list[str] = []
    if os.geteuid() == 0:
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        for item in (data, *data.rglob("*")):
            os.chown(item, 65534, 65534)
    data.chmod(0o700)
    options = f"-c listen_addresses= -c unix_socket_directories={data}"
    control = [*become, binaries.find().program("pg_ctl"), "-D", str(data), "-w"]

    def run(*words: str) -> None:
        subprocess.run([*control, *words], cwd="/", check=True, capture_output=True, timeout=120)

    run("-l", str(data / "log"), "-o", options, "start")
    try:
        with psycopg.connect(host=str(data), user="dyno", dbname="postgres") as session:
            (found,) = session.execute("SELECT count(*) FROM dyno_tpch.orders").fetchall()
            return int(found[0])
    finally:
        run("-m", "immediate", "stop")


@pytest.mark.long
def test_a_backup_is_whole_for_a_server_that_is_started_in_it(
    postgresql: PostgresTarget, kept: Path, public_out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Check] = []
    whole_or_not = backup.proven
    data = public_out / "data"

    def restored(place: Path) -> Check:
        for file, to in (("base.tar", data), ("pg_wal.tar", data / "pg_wal")):
            with tarfile.open(place / file) as whole:
                whole.extractall(to, filter="data")
        found = whole_or_not(place)
        # What is cut short does not pass.
        shutil.move(place / "base.tar", place / "whole")
        with tarfile.open(place / "whole") as whole, tarfile.open(place / "base.tar", "w") as cut:
            for item in list(whole)[:-5]:
                cut.addfile(item, whole.extractfile(item) if item.isfile() else None)
        seen.append(whole_or_not(place))
        return found

    monkeypatch.setattr(backup, "proven", restored)
    with closing(prepare(postgresql, "tpch", "backup")) as job:
        (check,) = once(job)
        assert isinstance(job, Writer)
        assert 30_000_000 < job.written.size < 3 * job.estimate.size
        assert job.written.seconds > 0
        assert job.space() == 0
    assert check.passed, check.message
    assert [item.passed for item in seen] == [False]
    assert "missing or incomplete" in seen[0].message
    assert not (kept / "scratch").exists()
    assert served_rows(data) == 15_000


def test_a_backup_needs_a_server_that_was_started_for_it(kept: Path, tmp_path: Path) -> None:
    with (
        opened("embedded:postgresql", tmp_path) as target,
        pytest.raises(UsageError, match="wal_level = minimal"),
    ):
        prepare(target, "tpch", "backup")


def test_no_space_is_reported_before(
    postgresql: PostgresTarget, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(kept)._replace(free=1_000_000)

    def little(_: Path) -> Any:
        return usage

    monkeypatch.setattr(shutil, "disk_usage", little)
    with closing(prepare(postgresql, "tpch", "backup")) as job:
        assert (job.estimate.size or 0) > 1_000_000, "an estimate needs no space"
        assert isinstance(job, Preparing)
        with pytest.raises(DiskFullError, match="needs about"):
            job.prepare()
    assert not (kept / "scratch").exists()


def test_a_vacuum_clears_dead_rows_and_says_when_it_may_not(postgresql: PostgresTarget) -> None:
    place = "dyno_tpch.region"
    rows(
        postgresql, f"UPDATE {place} SET r_name = r_name", f"UPDATE {place} SET r_name = r_name",
        "SELECT pg_stat_force_next_flush()",
    )  # fmt: skip
    with closing(prepare(postgresql, "tpch", "vacuum")) as job:
        checks = {check.name: check for check in once(job)}
    assert len(checks) == 8
    assert all(check.passed for check in checks.values())
    assert checks["vacuum region"].message == "10 dead rows before, 0 after"
    rows(postgresql, "CREATE ROLE plain", "GRANT USAGE ON SCHEMA dyno_tpch TO plain")

    def limited() -> PostgresConnection:
        session = postgresql.connect("tpch")
        session.execute("SET ROLE plain")
        return session

    with closing(Vacuum(limited, "tpch")) as job:
        denied = once(job)
    assert {check.passed for check in denied} == {False}
    assert "only the owner" in denied[0].message


def test_a_password_reaches_the_server_but_no_process_list(
    tmp_path: Path, public_out: Path, spawned: list[str]
) -> None:
    with debian_server(public_out) as url:
        host = public_out / "debian"
        with opened(url, tmp_path) as target:
            text = PASSWORD.replace("'", "''")
            rows(
                target,
                f"CREATE ROLE bench LOGIN REPLICATION PASSWORD '{text}'",
                "CREATE ROLE plain LOGIN",
            )
            (host / "pg_hba.conf").write_text(
                "local all,replication bench scram-sha-256\nlocal all all trust\n"
                "local replication plain trust\n"
            )
            rows(target, "SELECT pg_reload_conf()")
        quoted = "a%3Ab%5Cc%22%23d"
        with opened(f"postgresql://bench:{quoted}@/postgres?host={host}", tmp_path) as target:
            job = prepare(target, "tpch", "backup")
            (folder,) = (tmp_path / "scratch").iterdir()
            assert stat.S_IMODE((folder / "pgpass").stat().st_mode) == 0o600
            with closing(job):
                (check,) = once(job)
        assert check.passed, check.message
        (line,) = [line for line in spawned if "pg_basebackup" in line]
        assert "b\\c" not in line
        with (
            opened(f"postgresql://plain@/postgres?host={host}", tmp_path) as target,
            pytest.raises(UsageError, match="not allow this user to replicate"),
        ):
            prepare(target, "tpch", "backup")
    assert not (tmp_path / "scratch").exists()


def test_sqlite_copies_one_moment_while_rows_change(tmp_path: Path) -> None:
    with opened("embedded:sqlite", tmp_path) as target:
        fill(target)
        done = threading.Event()
        changes: list[int] = []

        def work() -> None:
            with closing(target.connect("tpch")) as session:
                while not done.is_set():
                    session.execute("UPDATE orders SET o_shippriority = 1 WHERE o_orderkey = 1")
                    changes.append(1)

        writer = threading.Thread(target=work)
        with closing(prepare(target, "tpch", "backup")) as job:
            writer.start()
            wait_until(lambda: changes, "the first change")
            (check,) = once(job)
            before = len(changes)
            wait_until(lambda: len(changes) > before, "another change")
            stop = threading.Event()

            def end(done: int, total: int, text: str) -> None:
                stop.set()

            with pytest.raises(Interrupted):
                job.run(stop, end)
            done.set()
            writer.join()
            assert isinstance(job, Writer)
            assert 0 < job.written.size
        assert check.passed, check.message
        assert not (tmp_path / "scratch").exists()
        with pytest.raises(UsageError, match="blocks all writers"):
            prepare(target, "tpch", "vacuum")


def test_sqlite_is_copied_beside_its_driver_from_another_process(tmp_path: Path) -> None:
    with opened("embedded:sqlite", tmp_path) as target:
        fill(target, "tpcc", 1)
        with closing(prepare(target, "tpcc", "backup")) as job:
            target.wire("tpcc")  # from now on this process may not open it
            (check,) = once(job)
            assert check.passed, check.message
            assert isinstance(job, Writer)
            whole = job.written.size
            assert whole > 50_000_000
            stop = threading.Event()

            def end(done: int, total: int, text: str) -> None:
                stop.set()
                job.cancel()

            with pytest.raises(Interrupted):
                job.run(stop, end)
            assert job.written.size == whole
            assert job.space() == 0
        assert not (tmp_path / "scratch").exists()


class Noted(Backup):
    """Writes a file, and records what was done when."""

    method = "noted"

    def __init__(self, out: Path, *, whole: bool = True) -> None:
        super().__init__(out, SpaceEstimate(1, "a byte"))
        self.done: list[str] = []
        self.whole = whole

    def _write(self, place: Path, stop: threading.Event, progress: Progress) -> None:
        (place / "file").write_text("x" * 10_000)
        self.done.append("written")

    def _proven(self, place: Path) -> Check:
        self.done.append("proven")
        if not self.whole:
            raise TargetError("cannot be read")
        return Check(name="backup", target="x", passed=True, message="")


def test_what_is_timed_is_synced_and_ends_before_the_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(range(100))
    clock = SimpleNamespace(monotonic=lambda: next(now))
    monkeypatch.setattr("dyno.targets.backup.time", clock)
    with closing(Noted(tmp_path)) as job:
        synced: list[str] = []
        real = os.fsync

        def fsync(descriptor: int) -> None:
            synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
            job.done.append("synced")
            real(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)
        once(job)
        assert job.done == ["written", "synced", "synced", "proven"]
        assert synced == ["file", "backup"]
        # The clock was read twice: before it was written, and after it was synced.
        assert (job.written.seconds, next(now)) == (1, 2)
        assert job.written.size >= 8192
    with closing(Noted(tmp_path, whole=False)) as job:
        with pytest.raises(TargetError):
            once(job)
        assert job.written == Written()


def test_what_a_killed_backup_left_is_swept(tmp_path: Path) -> None:
    def killed() -> Path:
        folder = tmp_path / "scratch" / "backup-killed"
        folder.mkdir(parents=True)
        (folder / "pgpass").write_text("*:*:*:*:secret")
        return folder

    folder = killed()
    (tmp_path / "scratch" / "mine").write_text("")
    assert scratch.left(tmp_path) == [folder]
    assert scratch.sweep(tmp_path) == [folder]
    assert [path.name for path in (tmp_path / "scratch").iterdir()] == ["mine"]
    (tmp_path / "scratch" / "mine").unlink()
    folder = killed()
    done = dyno("clean", "--yes", "--json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert document(done)["removed"] == [str(folder)]
    assert not folder.parent.exists()
    folder = killed()
    done = dyno(
        "run", "tpcc", "--target", "null:", "--warmup", "100ms", "--duration", "200ms", "--out",
        tmp_path,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    assert not folder.parent.exists()
    assert scratch.sweep(tmp_path) == []


def test_what_a_scratch_folder_holds_is_private(postgresql: PostgresTarget, kept: Path) -> None:
    with closing(prepare(postgresql, "tpch", "backup")):
        (folder,) = (kept / "scratch").iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.stat().st_uid == os.geteuid()
