"""What DuckDB holds in memory and has spilled, while a query runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets
from dyno.bundle.inside import Inside
from dyno.contracts.target import Limits
from dyno.errors import DynoError
from dyno.targets.duckdb.target import DuckdbTarget
from tests.process import wait_until

SORT = (
    "SELECT s FROM (SELECT hash(range) AS h, md5(range::VARCHAR) AS s FROM range(2000000)) "
    "ORDER BY s, h LIMIT 1 OFFSET 1900000"
)


@pytest.fixture
def duckdb(tmp_path: Path) -> Iterator[DuckdbTarget]:
    limits = Limits(memory_bytes=64 << 20, threads=2)
    target = targets.open_target(targets.parse("embedded:duckdb"), tmp_path, limits)
    assert isinstance(target, DuckdbTarget)
    target.before_load()
    with target:
        yield target


def read(target: DuckdbTarget) -> dict[str, float]:
    (probe,) = target.probes()
    with closing(probe):
        return {one.metric: one.value for one in probe.read(0)}


def test_a_sort_that_spills_is_seen_while_it_runs(duckdb: DuckdbTarget) -> None:
    assert read(duckdb)[Inside.temp_used] == 0
    failed: list[Exception] = []

    def run() -> None:
        try:
            with closing(duckdb.connect()) as session:
                session.execute(SORT)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        seen = wait_until(
            lambda: not thread.is_alive() or (read(duckdb)[Inside.temp_used] and read(duckdb)),
            "spilled data",
        )
    finally:
        thread.join()
    assert not failed
    assert isinstance(seen, dict), "the sort ended unseen"
    assert 5_000_000 < seen[Inside.memory] < 100_000_000
    assert read(duckdb)[Inside.temp_used] == 0


def test_a_probe_does_not_keep_the_file_open(duckdb: DuckdbTarget) -> None:
    with closing(duckdb.connect()) as session:
        session.execute("CREATE TABLE t AS SELECT range FROM range(1000)")
    (probe,) = duckdb.probes()
    stop = threading.Event()
    readings = 0

    def watch() -> None:
        nonlocal readings
        while not stop.is_set():
            probe.read(0)
            readings += 1

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        for wanted in (10, 20, 30):
            wait_until(lambda wanted=wanted: readings >= wanted, "readings")
            with closing(duckdb.connect()) as session:
                session.execute("INSERT INTO t SELECT range FROM range(1000)")
                session.execute("CHECKPOINT")
    finally:
        stop.set()
        thread.join()
    assert duckdb.cool().files  # it refuses while the file is open
    probe.read(0)


def test_without_a_file_a_reading_is_refused(tmp_path: Path) -> None:
    target = targets.open_target(
        targets.parse("embedded:duckdb"), tmp_path, Limits(memory_bytes=128 << 20, threads=1)
    )
    assert isinstance(target, DuckdbTarget)
    with pytest.raises(DynoError, match="is not open"):
        read(target)
