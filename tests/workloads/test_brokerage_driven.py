"""Brokerage, driven: the exchange's share of the work, and what a run leaves behind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle import metrics
from dyno.bundle.phases.oltp import OltpDetail, Outcome
from tests.process import dyno

pytest.importorskip("dyno._core")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with 100 customers."""
    file = tmp_path_factory.mktemp("house") / "x.db"
    load = ("load", "brokerage", "--target", f"sqlite://{file}", "--scale", "0.1", "--json")
    done = dyno(*load, "--out", file.parent / "out")
    assert done.returncode in {0, 1}, done.stderr
    return file


def drive(file: Path) -> Outcome:
    words = ("--users", "2", "--warmup", "3s", "--duration", "6s", "--no-criteria", "--json")
    url = f"sqlite://{file}"
    done = dyno("run", "brokerage", "--target", url, *words, "--out", file.parent / "out")
    assert done.returncode in {0, 1}, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["workloads"]["brokerage"]["consistency"] is True
    bundle = Path(found["bundle"])
    (phase,) = (
        phase
        for phase in json.loads((bundle / "run.json").read_text("utf-8"))["phases"]
        if phase["kind"] == "oltp"
    )
    outcome = OltpDetail.model_validate(phase["detail"]).outcome
    assert outcome is not None
    return outcome


def count(file: Path, table: str, condition: str) -> int:
    with closing(sqlite3.connect(file)) as session:
        query = f"SELECT count(*) FROM {table} WHERE {condition}"
        return int(session.execute(query).fetchone()[0])


def test_trades_are_ordered_executed_and_fed_back(filled: Path) -> None:
    loaded = count(filled, "trade", "1 = 1")
    outcome = drive(filled)
    ops = outcome.ops or {}
    done = {name: op.done or 0 for name, op in ops.items()}
    assert not any(op.errors for op in ops.values())
    assert not outcome.errors_first
    # Each order has a result, unless it is withdrawn or its price was not reached yet.
    assert 0.7 < done["trade_result"] / done["trade_order"] < 1.1
    assert done["market_feed"] == pytest.approx(done["trade_result"] / 10, abs=2)
    assert (ops["trade_order"].rolled_back or 0) < 0.03 * done["trade_order"]
    assert 0.1 < done["trade_status"] / sum(done.values()) < 0.3
    assert outcome.behind_ms is not None
    assert count(filled, "trade", f"t_id > {loaded} AND t_st_id = 'CMPT'") > 100
    unfinished = count(filled, "trade", "t_st_id IN ('SBMT', 'PNDG')")
    assert 0 < unfinished < done["trade_order"]

    # A second run cancels what the first left unfinished, and numbers its trades after the first's.
    before = count(filled, "trade", "1 = 1")
    drive(filled)
    assert count(filled, "trade", "t_st_id = 'CNCL'") == unfinished
    assert count(filled, "trade", f"t_id > {before} AND t_st_id = 'CMPT'") > 100


def test_the_delay_of_the_exchange_is_a_metric() -> None:
    assert metrics.Level("users-4").behind_ms.name == "oltp.users-4.behind_ms"
