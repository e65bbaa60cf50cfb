"""Maintenance of SQLite: it really happens beside readers, finds damage, and stops on request."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.model import Check
from dyno.contracts.maintenance import Job, prepare
from dyno.errors import Interrupted, UsageError
from dyno.layouts.resolve import resolve
from dyno.targets.sqlite import maintenance
from dyno.targets.sqlite.target import SqliteTarget
from tests.maintained import fill
from tests.process import wait_until
from tests.targets.conftest import LIMITS

INDEX = "dyno_lineitem_pkey"


def opened(file: Path) -> SqliteTarget:
    target = targets.open_target(targets.parse(f"sqlite://{file}"), file.parent, LIMITS)
    assert isinstance(target, SqliteTarget)
    return target


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the decision-support data."""
    file = tmp_path_factory.mktemp("lite") / "x.db"
    with opened(file) as target:
        fill(target)
    return file


@pytest.fixture
def lite(whole: Path, tmp_path: Path) -> Iterator[SqliteTarget]:
    """A copy of it, to be broken."""
    shutil.copy(whole, tmp_path / "x.db")
    with opened(tmp_path / "x.db") as target:
        yield target


def once(job: Job, stop: threading.Event | None = None) -> list[Check]:
    return job.run(stop or threading.Event(), lambda done, total, text: None)


def failed(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.message for check in checks if check.passed is not True}


def rows(target: SqliteTarget, *statements: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    with closing(target.connect("tpch")) as session:
        for statement in statements:
            found = session.execute(statement).rows
    return found


def make_stale(target: SqliteTarget) -> None:
    """Makes an index miss a row of its table: it was not there when the row came."""
    (row,) = rows(target, f"SELECT * FROM sqlite_master WHERE name = '{INDEX}'")
    values = ", ".join(f"'{v}'" if isinstance(v, str) else str(v) for v in row)
    (version,) = rows(target, "PRAGMA schema_version")[0]
    allow = "PRAGMA writable_schema = ON"
    rows(
        target, allow, f"DELETE FROM sqlite_master WHERE name = '{INDEX}'",
        f"PRAGMA schema_version = {version + 1}",
    )  # fmt: skip
    rows(target, "INSERT INTO lineitem SELECT * FROM lineitem WHERE l_orderkey = 1 LIMIT 1")
    rows(
        target, "UPDATE lineitem SET l_linenumber = 99 WHERE rowid = "
        "(SELECT max(rowid) FROM lineitem)",
        allow, f"INSERT INTO sqlite_master VALUES ({values})",
        f"PRAGMA schema_version = {version + 2}",
    )  # fmt: skip


def test_sound_tables_pass(lite: SqliteTarget) -> None:
    with closing(prepare(lite, "tpch", "integrity-check")) as job:
        checks = once(job)
        assert len(checks) == 8 + 1
        assert not failed(checks)
        assert job.estimate.size == 0
        assert "no checksums" in job.method


def test_a_row_that_an_index_lacks_is_found_and_a_reindex_mends_it(lite: SqliteTarget) -> None:
    make_stale(lite)
    with closing(prepare(lite, "tpch", "integrity-check")) as job:
        found = failed(once(job))
        assert set(found) == {"integrity-check lineitem"}
        assert f"missing from index {INDEX}" in found["integrity-check lineitem"]
        with closing(prepare(lite, "tpch", "quick-check")) as quick:
            checks = once(quick)
            assert len(checks) == 8 + 1
            assert not failed(checks), "a quick check compares no index with its rows"
            assert all(check.name.startswith("quick-check ") for check in checks)
        with closing(prepare(lite, "tpch", "reindex")) as reindex:
            assert not failed(once(reindex))
        assert not failed(once(job))


@pytest.mark.parametrize(("btree", "table"), [("orders", "orders"), (INDEX, "lineitem")])
def test_damage_in_the_file_is_found_also_between_two_rounds(
    lite: SqliteTarget, btree: str, table: str
) -> None:
    page = rows(lite, f"SELECT max(pageno) FROM dbstat WHERE name = '{btree}'")[0][0]
    (file,) = lite.data_paths()
    full = closing(prepare(lite, "tpch", "integrity-check"))
    quick = closing(prepare(lite, "tpch", "quick-check"))
    with full as job, quick as other:
        assert not failed([*once(job), *once(other)])
        with file.open("r+b") as damaged:
            damaged.seek((page - 1) * 4096)
            content = damaged.read(4096)
            damaged.seek((page - 1) * 4096)
            damaged.write(bytes(byte ^ 0xFF for byte in content))
        found = failed(once(job))
        assert f"quick-check {table}" in failed(once(other))
    assert f"integrity-check {table}" in found
    assert all("\n" not in message for message in found.values())


def test_a_header_that_is_none_is_damage_and_not_an_error(lite: SqliteTarget) -> None:
    with (
        closing(prepare(lite, "tpch", "integrity-check")) as job,
        closing(lite.connect("tpch")) as session,
    ):
        root = rows(lite, "SELECT rootpage FROM sqlite_master WHERE name = 'region'")[0][0]
        (file,) = lite.data_paths()
        with file.open("r+b") as damaged:
            damaged.seek((root - 1) * 4096)
            damaged.write(b"\0" * 4096)
        assert "integrity-check region" in failed(once(job))
        assert session.execute("SELECT 1").rows == [(1,)]


def test_a_reindex_writes_every_index_beside_a_reader(lite: SqliteTarget) -> None:
    (file,) = lite.data_paths()
    with closing(lite.connect("tpch")) as reader, closing(prepare(lite, "tpch", "reindex")) as job:
        assert "REINDEX of 6 indexes" in job.method
        reader.execute("BEGIN")
        before = reader.execute("SELECT count(*) FROM lineitem").rows
        (check,) = once(job)
        assert check.passed, check.message
        # The reader's state stays, so the log cannot begin anew: it holds all of them.
        assert reader.execute("SELECT count(*) FROM lineitem").rows == before
        peak = job.space()
        assert peak is not None
        assert 0.7 * job.estimate.size < peak < 1.3 * job.estimate.size
        assert Path(f"{file}-wal").stat().st_size > 0.7 * job.estimate.size
        reader.execute("COMMIT")
    assert rows(lite, "PRAGMA integrity_check") == [("ok",)]


def test_a_stopped_reindex_leaves_the_index_as_it_was(lite: SqliteTarget) -> None:
    make_stale(lite)
    stop = threading.Event()
    caught: list[BaseException] = []
    with closing(lite.connect("tpch")) as writer, closing(prepare(lite, "tpch", "reindex")) as job:
        writer.execute("BEGIN IMMEDIATE")  # the one writer: the reindex waits for it

        def work() -> None:
            try:
                once(job, stop)
            except BaseException as error:
                caught.append(error)

        worker = threading.Thread(target=work)
        worker.start()
        wait_until(lambda: isinstance(job, maintenance.Reindex) and job._session, "its session")
        stop.set()
        wait_until(lambda: (job.cancel(), not worker.is_alive())[1], "the reindex to stop")
        writer.execute("ROLLBACK")
    assert [type(error) for error in caught] == [Interrupted]
    with closing(prepare(lite, "tpch", "integrity-check")) as check:
        assert set(failed(once(check))) == {"integrity-check lineitem"}


def test_what_cannot_be_done_has_a_reason(lite: SqliteTarget, tmp_path: Path) -> None:
    rows(lite, "PRAGMA journal_mode = DELETE")
    with pytest.raises(UsageError, match="blocks all readers"):
        prepare(lite, "tpch", "reindex")
    rows(lite, "PRAGMA journal_mode = WAL")
    with opened(tmp_path / "bare.db") as bare:
        layout = resolve("bare", "tpch", 0.01)
        bare.create_tables("tpch", replace=False, layout=layout)
        bare.index("tpch", threading.Event(), lambda *_: None, layout)
        with pytest.raises(UsageError, match="has no indexes"):
            prepare(bare, "tpch", "reindex")


def test_without_dbstat_the_file_bounds_the_estimate(
    lite: SqliteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_sizes", lambda *_: None)
    (file,) = lite.data_paths()
    with closing(prepare(lite, "tpch", "reindex")) as job:
        assert job.estimate.size >= file.stat().st_size
        assert "no dbstat" in job.estimate.source
