"""Brokerage, driven: the exchange's share of the work, and what a run leaves behind."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle import metrics
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail, Outcome
from dyno.bundle.reader import Bundle
from tests.process import dyno, end, spoilt, start, wait_until
from tests.workloads.brokerage_orders import order_later

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
    assert {code for op in ops.values() for code in op.errors or ()} <= {"lock_timeout"}
    # SQLite has no queue for its write lock: on a busy machine a session may wait for it in vain.
    assert set(outcome.errors_first) <= {"lock_timeout"}
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
    with closing(sqlite3.connect(filled)) as session, session:
        order_later(session.execute)
    drive(filled)
    assert count(filled, "trade", "t_st_id = 'CNCL'") == unfinished
    assert count(filled, "trade", f"t_id > {before} AND t_st_id = 'CMPT'") > 100


@pytest.mark.long
def test_an_exchange_behind_its_schedule_marks_the_run(filled: Path) -> None:
    out = filled.parent / "behind"
    process = start(
        "run", "brokerage", "--target", f"sqlite://{filled}", "--users", "2", "--warmup", "500ms",
        "--duration", "10s", "--no-criteria", "--json", "--out", out,
    )  # fmt: skip
    spools = "*/ops/users-2.jsonl"
    wait_until(
        lambda: any(b"trade_result" in spool.read_bytes() for spool in out.glob(spools)),
        "a result of a trade",
    )
    with closing(sqlite3.connect(filled, timeout=60, isolation_level=None)) as session:
        # Another writer delays the users, and orders execute meanwhile.
        session.execute("BEGIN IMMEDIATE")
        threading.Event().wait(3)
        session.execute("ROLLBACK")
    code, stdout, errors = end(process)
    assert code == 1, errors
    found = json.loads(stdout)
    assert found["valid"] is False
    assert "workload-behind" in spoilt(found)
    assert found["workloads"]["brokerage"]["consistency"] is True
    bundle = Bundle.open(Path(found["bundle"]))
    (reason,) = [one for one in bundle.findings() if one.code == "workload-behind"]
    assert "oltp.users-2.behind_ms" in reason.evidence
    (phase,) = those(bundle.run.phases, OltpDetail)
    assert phase.detail.outcome is not None
    assert (phase.detail.outcome.behind_ms or 0) > 1000


@pytest.mark.long
def test_the_most_users_within_limits_are_found(out: Path) -> None:
    where = ("brokerage", "--target", "embedded:postgresql", "--json", "--out", out)
    loaded = dyno("load", *where, "--scale", "0.1", "--days", "1")
    assert loaded.returncode in {0, 1}, loaded.stderr
    search = ("--find-max", "--max-users", "2", "--warmup", "2s", "--duration", "2s")
    planned = dyno("run", *where[:-3], *search, "--dry-run", "--out", out)
    assert "trade_result p90 < 2 s" in planned.stdout  # without --slo
    limits = ("--slo", "trade_result p90 < 30s", "--slo", "errors < 1 %")
    done = dyno("run", *where, *search, *limits)
    assert done.returncode in {0, 1}, done.stderr
    made = json.loads(done.stdout)
    found = made["capacity"]
    assert made["workloads"]["brokerage"]["consistency"] is True
    allowed = {"unsteady", "client-bound", "unconfirmed-maximum", "other-mix"}
    assert spoilt(made) <= allowed, made["reasons"]  # results follow orders by seconds
    # On a machine with much other work a window may be inconclusive, and is measured again.
    assert all(window["passed"] for window in found["windows"] if window["steady"])
    if all(window["steady"] for window in found["windows"]):
        assert (found["best"], found["stopped"]) == (2, "most"), done.stderr
        assert found["trade_results_per_min"]["mean"] > 0


def test_the_delay_of_the_exchange_is_a_metric() -> None:
    assert metrics.Level("users-4").behind_ms.name == "oltp.users-4.behind_ms"
