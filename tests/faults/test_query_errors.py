"""What can befall a query: each has its class and a line that helps, and the stream goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Limits, Target
from dyno.runtime.progress import Silent
from dyno.stages.drive import PowerPlan, power
from tests.maintained import fill
from tests.process import wait_until

VICTIM = "q06"
OTHERS_END_S = 15.0
"""No query but the victim takes as long, which is milliseconds, on however busy a machine."""
LIMITS = Limits(memory_bytes=256 << 20, threads=2)


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    yield from loaded("postgresql", tmp_path_factory.mktemp("pg"))


@pytest.fixture(scope="module")
def duckdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    yield from loaded("duckdb", tmp_path_factory.mktemp("duck"))


def loaded(name: str, out: Path) -> Iterator[Target]:
    with targets.open_target(targets.parse(f"embedded:{name}"), out, LIMITS) as target:
        fill(target)
        yield target


@pytest.fixture
def run(out: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """The power test with another statement in the place of one query; its rows by query."""

    def stream(target: Target, sql: str, timeout_s: float = 600.0) -> list[dict[str, Any]]:
        neutral = target.sql

        def exchanged(workload: str, name: str, text: str) -> str:
            return sql if name == VICTIM else neutral(workload, name, text)

        monkeypatch.setattr(target, "sql", exchanged)
        recorder = Recorder(out, "run", {}, ("tpch",))
        plan = PowerPlan("tpch", 0.01, warm=False, timeout_s=timeout_s)
        result = power(recorder, target, plan, Silent())
        recorder.finish("done")
        rows = _rows(recorder)
        recorder.close()
        assert set(result.errors) == {VICTIM}
        return rows

    return stream


def _rows(recorder: Recorder) -> list[dict[str, Any]]:
    from dyno.bundle.tables import read_table

    return read_table(recorder.path, "queries").to_pylist()


def only_the_victim_failed(rows: list[dict[str, Any]], kind: str, words: str) -> None:
    assert len(rows) == 22
    (victim,) = [row for row in rows if row["query"] == VICTIM]
    assert victim["error_kind"] == kind, victim["error"]
    assert words in victim["error"]
    assert "\n" not in victim["error"]
    assert victim["rows"] is None
    assert victim["bytes_read"] is None
    others = [row for row in rows if row["query"] != VICTIM]
    assert {row["error_kind"] for row in others} == {None}, others
    assert all(row["digest"] for row in others)


SPILLS = (
    "SELECT set_config('work_mem', '64kB', true), set_config('temp_file_limit', '1MB', true), "
    "set_config('max_parallel_workers_per_gather', '0', true); SELECT count(*) FROM "
    "(SELECT l_comment FROM lineitem ORDER BY l_comment, l_orderkey OFFSET 9) s"
)
LARGE = (
    "SELECT count(DISTINCT x) FROM (SELECT a.l_comment || b.p_name AS x "
    "FROM lineitem a JOIN part b ON b.p_partkey <= 30) s"
)


def test_postgresql_out_of_temporary_space(postgresql: Target, run: Any) -> None:
    rows = run(postgresql, SPILLS)
    only_the_victim_failed(rows, "disk_full", "raise temp_file_limit")


def test_postgresql_out_of_shared_memory(postgresql: Target, run: Any) -> None:
    locks = "SELECT count(pg_advisory_xact_lock(g)) FROM generate_series(1, 10000000) g"
    rows = run(postgresql, locks)
    only_the_victim_failed(rows, "out_of_memory", "raise max_locks_per_transaction")


@pytest.mark.long
def test_postgresql_out_of_time(postgresql: Target, run: Any) -> None:
    rows = run(postgresql, "SELECT pg_sleep(3600)", timeout_s=OTHERS_END_S)
    only_the_victim_failed(rows, "timeout", "did not finish within")


@pytest.mark.parametrize(
    ("function", "kind", "words"),
    [
        ("pg_cancel_backend", "timeout", "another session or an administrator cancelled it"),
        ("pg_terminate_backend", "connection_lost", "administrator command"),
    ],
)
def test_postgresql_ended_by_another_session(
    postgresql: Target, run: Any, function: str, kind: str, words: str
) -> None:
    def strike() -> None:
        with closing(postgresql.connect()) as session:
            wait_until(
                lambda: (
                    session.execute(
                        f"SELECT {function}(pid) FROM pg_stat_activity "
                        "WHERE state = 'active' AND query = 'SELECT pg_sleep(3600)'"
                    ).rows
                ),
                "the query to be under way",
            )

    other = threading.Thread(target=strike)
    other.start()
    rows = run(postgresql, "SELECT pg_sleep(3600)")
    other.join()
    only_the_victim_failed(rows, kind, words)


@pytest.fixture
def tight(duckdb: Target) -> Iterator[Callable[..., None]]:
    """Settings of the whole database, taken back after the test."""
    folder = ""

    def apply(*settings: str) -> None:
        nonlocal folder
        with closing(duckdb.connect()) as session:
            folder = session.execute("SELECT current_setting('temp_directory')").rows[0][0]
            for setting in settings:
                session.execute(f"SET {setting}")

    yield apply
    with closing(duckdb.connect()) as session:
        session.execute(f"SET memory_limit = '{LIMITS.memory_bytes}B'")
        if session.execute("SELECT current_setting('temp_directory')").rows[0][0] != folder:
            session.execute(f"SET temp_directory = '{folder}'")
        session.execute("RESET max_temp_directory_size")


def test_duckdb_out_of_memory(duckdb: Target, run: Any, tight: Any) -> None:
    tight("temp_directory = ''", "memory_limit = '64MB'")
    only_the_victim_failed(run(duckdb, LARGE), "out_of_memory", "memory_limit")


def test_duckdb_out_of_temporary_space(duckdb: Target, run: Any, tight: Any) -> None:
    tight("max_temp_directory_size = '1MB'", "memory_limit = '64MB'")
    only_the_victim_failed(run(duckdb, LARGE), "disk_full", "raise max_temp_directory_size")


@pytest.mark.long
def test_duckdb_out_of_time(duckdb: Target, run: Any) -> None:
    endless = (
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7"
    )
    rows = run(duckdb, endless, timeout_s=OTHERS_END_S)
    only_the_victim_failed(rows, "timeout", "did not finish within")
