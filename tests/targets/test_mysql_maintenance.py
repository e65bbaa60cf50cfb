"""Maintenance of MariaDB: damage is found, tables are written anew, work goes on meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import Check
from dyno.contracts.maintenance import Job, Maintenance, prepare
from dyno.errors import DynoError, Interrupted
from dyno.servers.identity import Identity
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.backup import Dump, take
from dyno.targets.mysql.connection import MysqlConnection, literal
from dyno.targets.mysql.target import MysqlTarget
from tests.maintained import fill
from tests.process import wait_until
from tests.targets.conftest import embedded_mariadb

SPACES = (
    "SELECT name, space FROM information_schema.innodb_sys_tables "
    "WHERE name LIKE 'dyno\\\\_tpch/%' ORDER BY 1"
)
PAGE = 16384


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("kept")
    with embedded_mariadb(out) as target:
        fill(target)
    return out


@pytest.fixture
def mariadb(out: Path) -> Iterator[MysqlTarget]:
    with embedded_mariadb(out) as target:
        yield target


def once(job: Job) -> list[Check]:
    return job.run(threading.Event(), lambda done, total, text: None)


@pytest.mark.parametrize(
    ("task", "depth"), [("integrity-check", "EXTENDED"), ("quick-check", "QUICK")]
)
def test_sound_tables_pass_and_take_no_space(
    mariadb: MysqlTarget, task: Maintenance, depth: str
) -> None:
    with closing(prepare(mariadb, "tpch", task)) as job:
        assert depth in job.method
        checks = once(job)
        assert job.space() == 0
    assert [check.passed for check in checks] == [True] * 8
    assert {check.message for check in checks} == {"OK"}
    assert all(check.name.startswith(f"{task} ") for check in checks)


def test_every_table_is_written_anew_while_it_takes_changes(mariadb: MysqlTarget) -> None:
    change = "UPDATE lineitem SET l_linestatus = l_linestatus WHERE l_orderkey = 1"
    stop = threading.Event()
    changes: list[int] = []
    refused: list[DynoError] = []

    def work() -> None:
        with closing(mariadb.connect("tpch")) as session:
            while not stop.is_set():
                try:
                    session.execute(change)
                    changes.append(1)
                except DynoError as error:
                    refused.append(error)

    with closing(mariadb.connect()) as session:
        before = dict(session.execute(SPACES).rows)
        writer = threading.Thread(target=work)
        with closing(prepare(mariadb, "tpch", "reindex")) as job:
            assert job.space() is None
            writer.start()
            wait_until(lambda: changes, "the first change")
            seen = len(changes)
            checks = once(job)
            assert len(changes) > seen
            stop.set()
            writer.join()
            assert job.estimate.size > 5_000_000
            assert job.space() is not None
        after = dict(session.execute(SPACES).rows)
    assert all(check.passed for check in checks)
    assert len(checks) == 8
    assert not refused
    assert before.keys() == after.keys()
    assert len(before) == 8
    assert not {name for name in before if before[name] == after[name]}


def test_a_stopped_rebuild_leaves_the_table_as_it_was(mariadb: MysqlTarget) -> None:
    stop = threading.Event()
    caught: list[DynoError] = []
    with closing(mariadb.connect("tpch")) as reader, closing(mariadb.connect()) as session:
        before = dict(session.execute(SPACES).rows)
        with closing(prepare(mariadb, "tpch", "reindex")) as job:
            # A reader's transaction keeps the new table from taking the old one's place.
            reader.execute("START TRANSACTION")
            reader.execute("SELECT count(*) FROM region")

            def run() -> None:
                try:
                    job.run(stop, lambda done, total, text: None)
                except DynoError as error:
                    caught.append(error)

            worker = threading.Thread(target=run)
            worker.start()
            waiting = (
                "SELECT count(*) FROM information_schema.processlist "
                "WHERE state LIKE 'Waiting for table metadata lock%'"
            )
            wait_until(lambda: session.execute(waiting).rows[0][0], "the rebuild to wait")
            stop.set()
            wait_until(lambda: (job.cancel(), not worker.is_alive())[1], "the rebuild to stop")
        reader.execute("ROLLBACK")
        after = dict(session.execute(SPACES).rows)
    assert [type(error) for error in caught] == [Interrupted]
    assert after["dyno_tpch/region"] == before["dyno_tpch/region"]
    assert before.keys() == after.keys()


def has_rows(page: bytes) -> bool:
    """Whether a page of InnoDB is a leaf of a B-tree, with rows (its manual: page structure)."""
    kind = int.from_bytes(page[24:26], "big")
    rows, level = int.from_bytes(page[54:56], "big"), int.from_bytes(page[64:66], "big")
    return kind == 0x45BF and level == 0 and rows > 0


def test_damage_in_a_file_is_found(out: Path) -> None:
    (file,) = out.rglob("dyno_tpch/partsupp.ibd")
    whole = file.read_bytes()
    broken = bytearray(whole)
    page = next(page for page in range(len(whole) // PAGE) if has_rows(whole[page * PAGE :][:PAGE]))
    for place in range(page * PAGE + 200, page * PAGE + 400):
        broken[place] ^= 0xFF
    file.write_bytes(broken)
    try:
        with (
            embedded_mariadb(out) as target,
            closing(prepare(target, "tpch", "integrity-check")) as job,
        ):
            found = {check.name: check for check in once(job) if not check.passed}
    finally:
        file.write_bytes(whole)
    assert set(found) == {"integrity-check partsupp"}
    assert found["integrity-check partsupp"].message != "OK"


def test_a_dump_is_whole_and_its_password_in_no_process_list(
    mariadb: MysqlTarget, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "a\\b\"c#d'e f"
    lines: list[str] = []
    held: list[str] = []
    spawn, proven = Identity.spawn, Dump.proven

    def noted(self: Identity, command: Sequence[str], *args: Any, **options: Any) -> Any:
        lines.append(" ".join(command))
        return spawn(self, command, *args, **options)

    def seen(self: Dump, file: Path) -> Check:
        held.append(file.read_text(encoding="utf-8"))
        return proven(self, file)

    monkeypatch.setattr(Identity, "spawn", noted)
    monkeypatch.setattr(Dump, "proven", seen)
    with closing(mariadb.connect()) as session:
        session.execute(f"CREATE OR REPLACE USER bench@localhost IDENTIFIED BY {literal(password)}")
        session.execute("GRANT SELECT, LOCK TABLES ON dyno_tpch.* TO bench@localhost")
        socket = mariadb.wire()["unix_socket"]
        address = Address("localhost", 0, "bench", password, unix_socket=socket)
        with closing(MysqlConnection.open(address, lambda: None)) as other:
            dump = take(other, address, out, "tpch")
        assert isinstance(dump, Dump)
        with closing(dump) as job:
            (check,) = once(job)
            assert job.written.size > 5_000_000
            assert job.written.seconds > 0
    assert check.passed, check.message
    assert held[0].count("CREATE TABLE") == 8
    assert held[0].count("(0,'AFRICA'") == 1
    assert not any("c#d" in line for line in lines)
    assert not (out / "scratch").exists()


def test_a_dump_that_is_cut_short_does_not_pass(mariadb: MysqlTarget, tmp_path: Path) -> None:
    with closing(prepare(mariadb, "tpch", "backup")) as job:
        assert isinstance(job, Dump)
        (tmp_path / "dump.sql").write_text("CREATE TABLE x (y int);\n")
        assert not job.proven(tmp_path / "dump.sql").passed
