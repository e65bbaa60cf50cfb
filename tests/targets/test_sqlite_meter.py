"""Bytes that SQLite's queries read and spill, as the kernel counts them for the thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.config import settings
from dyno.contracts import tuning
from dyno.contracts.meter import METRICS, QueryMeter
from dyno.targets.sqlite import meter as own
from dyno.targets.sqlite.target import SqliteTarget
from tests.maintained import fill
from tests.targets.conftest import LIMITS

SCAN = "SELECT sum(l_quantity) FROM lineitem NOT INDEXED"
SORT = "SELECT count(*) FROM (SELECT l_comment FROM lineitem ORDER BY l_comment LIMIT -1 OFFSET 9)"


@pytest.fixture(scope="module")
def file(tmp_path_factory: Any) -> Path:
    path = tmp_path_factory.mktemp("lite") / "x.db"
    with opened(path) as target:
        fill(target)
    return path


def opened(file: Path, *texts: str) -> SqliteTarget:
    target = targets.open_target(targets.parse(f"sqlite://{file}"), file.parent, LIMITS)
    assert isinstance(target, SqliteTarget)
    tuning.tune(target, settings.parse(texts, None, 1 << 40))
    return target


@pytest.fixture
def serial(file: Path) -> Iterator[SqliteTarget]:
    with opened(file, "parallelism=1", "memory=1MB") as target:
        yield target


def metered(target: SqliteTarget, *statements: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with closing(target.connect("tpch")) as session:
        meter = QueryMeter(target, session)
        for statement in statements:
            meter.before()
            session.execute(statement)
            found.append(meter.after())
    return found


def test_bytes_read_and_spilled_are_reported(serial: SqliteTarget) -> None:
    table = "SELECT sum(pgsize) FROM dbstat WHERE name = 'lineitem' AND aggregate = TRUE"
    with closing(serial.connect("tpch")) as session:
        size = session.execute(table).rows[0][0]
    small = "SELECT sum(n_nationkey) FROM nation"
    scan, sort, first, again = metered(serial, SCAN, SORT, small, small)
    assert size <= scan["bytes_read"] < 1.1 * size
    assert scan["temp_bytes"] == 0
    assert sort["temp_bytes"] > 1_000_000
    assert sort["bytes_read"] >= size + sort["temp_bytes"] / 2  # and what was spilled, again
    assert first["bytes_read"] > 0
    assert (again["bytes_read"], again["temp_bytes"]) == (0, 0)
    assert again["peak_memory_bytes"] is None
    assert set(json.loads(again["meter"])) == set(METRICS)


def test_another_session_is_not_in_it(serial: SqliteTarget) -> None:
    with closing(serial.connect("tpch")) as session:
        meter = QueryMeter(serial, session)
        session.execute("SELECT 1 FROM nation")
        meter.before()
        other = threading.Thread(target=metered, args=(serial, SCAN))
        other.start()
        other.join()
        session.execute("SELECT 1 FROM nation")
        assert meter.after()["bytes_read"] == 0


def test_with_helpers_what_they_spill_is_not_claimed(file: Path) -> None:
    with opened(file, "parallelism=2", "memory=1MB") as target:
        (sort,) = metered(target, SORT)
    assert sort["temp_bytes"] is None
    assert "parallelism=1" in json.loads(sort["meter"])["temp_bytes"]
    assert "sort helpers" in json.loads(sort["meter"])["bytes_read"]


def test_a_kernel_that_does_not_count_is_a_reason(
    serial: SqliteTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "_COUNTERS", "/proc/self/no-such-file")
    (found,) = metered(serial, "SELECT 1")
    assert [found[name] for name in METRICS] == [None] * 3
    assert "does not expose" in found["meter"]
