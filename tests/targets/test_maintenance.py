"""Maintenance: it really happens, damage is found, and a stopped one leaves nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.model import Check
from dyno.contracts import maintenance
from dyno.contracts.maintenance import Job, prepare
from dyno.contracts.target import Limits
from dyno.errors import DynoError, Interrupted, UsageError
from dyno.targets.duckdb.maintenance import DuckdbScan
from dyno.targets.duckdb.target import DuckdbTarget
from dyno.targets.postgresql.integrity import Amcheck, Scan, integrity_check
from dyno.targets.postgresql.provision import stages
from dyno.targets.postgresql.target import PostgresTarget
from tests.maintained import fill
from tests.process import wait_until
from tests.targets.conftest import LIMITS, embedded
from tests.targets.debian import debian_server

LINEITEM = "dyno_tpch.lineitem_pkey"


@pytest.fixture(scope="module")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresTarget]:
    with embedded(tmp_path_factory.mktemp("tpch")) as target:
        fill(target)
        yield target


@pytest.fixture(scope="module")
def duck(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("duck")
    with open_duck(out) as target:
        fill(target)
    return out


def open_duck(out: Path) -> DuckdbTarget:
    target = targets.open_target(targets.parse("embedded:duckdb"), out, LIMITS)
    assert isinstance(target, DuckdbTarget)
    return target


def once(job: Job) -> list[Check]:
    return job.run(threading.Event(), lambda done, total, text: None)


def rows(target: PostgresTarget, sql: str) -> list[tuple[Any, ...]]:
    with closing(target.connect()) as session:
        return session.execute(sql).rows


FILES = (
    "SELECT relname, pg_relation_filenode(oid) FROM pg_class "
    "WHERE relnamespace = 'dyno_tpch'::regnamespace AND relkind = 'i' ORDER BY 1"
)
INVALID = (
    "SELECT indexrelid::regclass::text FROM pg_index x JOIN pg_class c ON c.oid = indexrelid "
    "WHERE NOT indisvalid AND relnamespace = 'dyno_tpch'::regnamespace"
)


def test_a_reindex_makes_every_index_anew_and_counts_its_space(tpch: PostgresTarget) -> None:
    before = dict(rows(tpch, FILES))
    largest = rows(tpch, f"SELECT pg_relation_size('{LINEITEM}')")[0][0]
    with closing(prepare(tpch, "tpch", "reindex")) as job:
        assert job.estimate.size == largest
        assert "CONCURRENTLY of 12 indexes" in job.method
        (check,) = once(job)
        peak = job.space()
    assert check.passed, check.message
    after = dict(rows(tpch, FILES))
    assert before.keys() == after.keys()
    assert not {name for name in after if after[name] == before[name]}
    assert peak is not None
    assert largest <= peak <= 2 * largest


@pytest.mark.parametrize("task", [None, "reindex"])
def test_maintenance_logs_new_indexes_as_a_server_with_replicas_does(
    tmp_path: Path, task: maintenance.Maintenance | None
) -> None:
    target = embedded(tmp_path)
    if task is not None:
        maintenance.ready(target, task)
    with target:
        fill(target)
        before = target.logged_bytes()
        with closing(target.connect("tpch")) as session:
            session.execute("CREATE INDEX made ON lineitem (l_comment)")
            size = session.execute("SELECT pg_relation_size('made')").rows[0][0]
            logged = target.logged_bytes() - before
            notes = stages(session, "tpch", None)[1]
    share = logged / size  # pages are logged without the space that is free in them
    assert (share < 0.1, share > 0.5, bool(notes)) == (task is None, task is not None, task is None)


def test_a_stopped_reindex_leaves_no_half_index(tpch: PostgresTarget) -> None:
    stop = threading.Event()
    caught: list[DynoError] = []
    with closing(tpch.connect("tpch")) as reader, closing(prepare(tpch, "tpch", "reindex")) as job:
        # A reader's transaction keeps the old index from going: the reindex waits for it.
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM lineitem")

        def run() -> None:
            try:
                job.run(stop, lambda done, total, text: None)
            except DynoError as error:
                caught.append(error)

        worker = threading.Thread(target=run)
        worker.start()
        wait_until(lambda: rows(tpch, INVALID), "a half-built index")
        wait_until(job.space, "the space that it takes")
        stop.set()
        wait_until(lambda: (job.cancel(), not worker.is_alive())[1], "the reindex to stop")
        assert [type(error) for error in caught] == [Interrupted]
        reader.execute("ROLLBACK")
    assert not rows(tpch, INVALID)


def make_stale(target: PostgresTarget) -> None:
    """Makes an index miss a row of its table."""
    ready = f"UPDATE pg_index SET indisready = %s WHERE indexrelid = '{LINEITEM}'::regclass"
    with closing(target.connect("tpch")) as session:
        session.execute(ready % "false")
    with closing(target.connect("tpch")) as session:
        session.execute("INSERT INTO lineitem SELECT * FROM lineitem LIMIT 1")
        session.execute(ready % "true")


def mend(target: PostgresTarget) -> None:
    with closing(target.connect("tpch")) as session:
        session.execute("SET enable_indexscan = off; SET enable_bitmapscan = off")
        session.execute(
            "DELETE FROM lineitem WHERE ctid IN (SELECT max(ctid) FROM lineitem "
            "GROUP BY l_orderkey, l_linenumber HAVING count(*) > 1)"
        )
        session.execute(f"REINDEX INDEX {LINEITEM}")


def failed(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.message for check in checks if check.passed is not True}


def test_without_amcheck_a_scan_finds_a_row_that_an_index_lacks(
    tpch: PostgresTarget,
) -> None:
    with closing(integrity_check(tpch.connect, "tpch")) as job:
        assert isinstance(job, Scan)
        assert "does not have the extension amcheck" in job.method
        assert job.estimate.size == 0
        checks = once(job)
        assert len(checks) == 8 + 12
        assert not failed(checks)
        assert job.space() == 0
        make_stale(tpch)
        try:
            found = failed(once(job))
            with closing(integrity_check(tpch.connect, "tpch", quick=True)) as quick:
                assert "without a comparison" in quick.method
                checks = once(quick)
        finally:
            mend(tpch)
    assert len(checks) == 8 + 12
    assert not failed(checks), "a quick check compares no index with its rows"
    assert all(check.name.startswith("quick-check ") for check in checks)
    assert set(found) == {"integrity-check lineitem_pkey"}
    assert "60,175 rows by the index, 60,176 by the table" in found["integrity-check lineitem_pkey"]


def test_amcheck_finds_a_row_that_an_index_lacks_and_is_dropped_again(public_out: Path) -> None:
    with debian_server(public_out) as url:
        target = targets.open_target(targets.parse(url), public_out, LIMITS)
        assert isinstance(target, PostgresTarget)
        with target:
            fill(target)
            with closing(integrity_check(target.connect, "tpch")) as job:
                assert isinstance(job, Amcheck)
                checks = once(job)
                assert len(checks) == 8 + 12
                assert not failed(checks)
                make_stale(target)
                found = failed(once(job))
            with closing(integrity_check(target.connect, "tpch", quick=True)) as quick:
                assert isinstance(quick, Amcheck)
                assert not failed(once(quick)), "it does not look up the rows in the indexes"
            assert set(found) == {"integrity-check lineitem_pkey"}
            assert "lacks matching index tuple" in found["integrity-check lineitem_pkey"]
            with closing(target.connect()) as session:
                session.execute(
                    "CREATE TABLE dyno_tpch.parted (id int) PARTITION BY RANGE (id); "
                    "CREATE TABLE dyno_tpch.part_1 PARTITION OF dyno_tpch.parted DEFAULT"
                )
            with closing(integrity_check(target.connect, "tpch", quick=True)) as quick:
                checks = once(quick)
                assert not failed(checks)
                names = {check.name for check in checks}
                assert "quick-check part_1" in names and "quick-check parted" not in names
            with closing(target.connect()) as session:
                session.execute("DROP TABLE dyno_tpch.parted")
            assert not rows(target, "SELECT 1 FROM pg_extension WHERE extname = 'amcheck'")

            with closing(target.connect()) as session:
                session.execute("CREATE ROLE plain LOGIN; GRANT USAGE ON SCHEMA dyno_tpch TO plain")
                session.execute("GRANT SELECT ON ALL TABLES IN SCHEMA dyno_tpch TO plain")
            other = targets.open_target(
                targets.parse(url.replace("user=dyno", "user=plain")), public_out, LIMITS
            )
            assert isinstance(other, PostgresTarget)
            mend(target)
            with other, closing(integrity_check(other.connect, "tpch")) as job:
                assert "CREATE EXTENSION amcheck" in job.method
                assert not failed(once(job))


def test_a_scan_of_duckdb_sees_a_changed_row(duck: Path) -> None:
    with open_duck(duck) as target, closing(prepare(target, "tpch", "integrity-check")) as job:
        assert isinstance(job, DuckdbScan)
        checks = once(job)
        assert [check.passed for check in checks] == [True] * 8
        assert job.space() == 0
        with closing(target.connect("tpch")) as session:
            session.execute("UPDATE nation SET n_name = 'ATLANTIS' WHERE n_nationkey = 3")
            found = failed(once(job))
            session.execute("UPDATE nation SET n_name = 'CANADA' WHERE n_nationkey = 3")
        assert set(found) == {"integrity-check nation"}
        assert not failed(once(job))


def block_of(duck: Path, table: str) -> int:
    """The place in the file of a block that holds values of a table: after three headers."""
    with open_duck(duck) as target, closing(target.connect("tpch")) as session:
        found = session.execute(
            f"SELECT min(block_id) FROM pragma_storage_info('{table}') "
            "WHERE persistent AND segment_type <> 'VALIDITY'"
        ).rows[0][0]
    return 3 * 4096 + found * 256 * 1024


def test_a_scan_of_duckdb_finds_damage_in_the_file(duck: Path, tmp_path: Path) -> None:
    start = block_of(duck, "lineitem")
    content = bytearray(next(duck.rglob("dyno.duckdb")).read_bytes())
    for place in range(start + 4096, start + 8192):
        content[place] ^= 0xFF
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(content)
    url = targets.parse(f"duckdb://{broken}")
    target = targets.open_target(url, tmp_path, Limits(256 << 20, 2))
    with target, closing(prepare(target, "tpch", "integrity-check")) as job:
        found = failed(once(job))
    assert found
    assert all("checksum" in message for message in found.values()), found


def test_what_a_target_cannot_do_has_a_reason(duck: Path, tmp_path: Path) -> None:
    with open_duck(duck) as target, pytest.raises(UsageError, match="has no indexes"):
        prepare(target, "tpch", "reindex")
    null = targets.open_target(targets.parse("null:"), tmp_path, LIMITS)
    with pytest.raises(UsageError, match="Dyno has no maintenance"):
        prepare(null, "tpcc", "integrity-check")
    with pytest.raises(UsageError, match="'integrity-check'"):
        maintenance.parse("integrity")
