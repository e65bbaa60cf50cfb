"""Generated rows into PostgreSQL: counted, keyed, and honest when the server goes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dyno import workloads
from dyno.contracts.target import LoadPlan
from dyno.errors import TargetError
from dyno.targets.postgresql.target import PostgresTarget
from tests.process import wait_until
from tests.targets.conftest import embedded

core = pytest.importorskip("dyno._core")


@pytest.fixture
def target(out: Path) -> Iterator[PostgresTarget]:
    with embedded(out) as opened:
        yield opened


@pytest.mark.parametrize(("workload", "scale"), [("tpch", 0.01), ("tpcc", 1.0)])
def test_rows_keys_and_indexes(target: PostgresTarget, workload: str, scale: float) -> None:
    target.create_tables(workload, replace=False)
    outcome = target.load(LoadPlan(workload, scale, 1, 2), core.Control())
    assert outcome.rows == sum(table["rows"] for table in outcome.tables)
    assert outcome.bytes > 0
    seconds = target.index(workload, threading.Event(), lambda *_: None)
    assert seconds["total"] > 0
    session = target.connect(workload)
    for table in outcome.tables:
        count = session.execute(f"SELECT count(*) FROM {table['table']}").rows[0][0]
        assert count == table["rows"] > 0
    names = {row[0] for row in session.execute("SELECT indexname FROM pg_indexes").rows}
    assert {index.name for index in workloads.get(workload).indexes} <= names
    # What is there already is not made again.
    again = target.index(workload, threading.Event(), lambda *_: None)
    assert not [step for step in again if step.startswith(("primary key", "index"))]
    session.close()


def test_a_server_killed_during_a_load_is_named(target: PostgresTarget) -> None:
    target.create_tables("tpch", replace=False)
    control = core.Control()
    caught: list[Any] = []

    def load() -> None:
        try:
            target.load(LoadPlan("tpch", 1, 1, 2), control)
        except TargetError as error:
            caught.append(error)

    thread = threading.Thread(target=load)
    thread.start()
    wait_until(lambda: control.progress()["done"], "rows")
    os.kill(target.process_ids()[0], signal.SIGKILL)
    thread.join(300)
    assert [(error.kind, str(error)) for error in caught] == [
        ("connection_lost", "PostgreSQL was killed (signal 9).")
    ]
