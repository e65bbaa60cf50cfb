"""Brokerage in procedure mode does to the data exactly what client mode does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import workloads
from dyno.bundle.writer import Recorder
from dyno.contracts.isolation import require
from dyno.contracts.target import Loaded, Target
from dyno.runtime.engine_calls import run_engine
from dyno.runtime.progress import Silent
from dyno.stages import drive
from dyno.stages.drive import OltpPlan
from dyno.stages.drive.oltp import request as plan_of
from tests.drive.copies import Copies, MariadbCopies, PostgresCopies, SqlServerCopies, contents
from tests.workloads.brokerage_orders import order_later

LOADED = Loaded(0.1, 1, complete=True, days=1)
OF_TRADES = {
    "trade", "trade_history", "trade_request", "settlement", "cash_transaction", "holding",
    "holding_history", "holding_summary", "broker", "customer_account", "last_trade",
}  # fmt: skip
MAINTAINED = {
    "account_permission", "address", "company", "customer", "customer_taxrate", "daily_market",
    "exchange", "financial", "security", "taxrate",
}  # fmt: skip
"""Without ``news_item``, of which only a time changes, and ``watch_item``: with so few securities
nearly all are on each list already."""
TRANSACTIONS, STEP_MS = 400, 2_000


@pytest.fixture(
    scope="module",
    params=[
        PostgresCopies,
        pytest.param(MariadbCopies, marks=pytest.mark.long),
        pytest.param(SqlServerCopies, marks=pytest.mark.long),
    ],
)
def copies(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Copies]:
    found = request.param(tmp_path_factory.mktemp("copies"), "brokerage", LOADED)
    try:
        yield found
    finally:
        found.stop()


def run(target: Target, out: Path, mode: str, step_ms: int | None, **more: Any) -> dict[str, Any]:
    """Drives a target in a bundle of its own; returns the driver's outcome."""
    recorder = Recorder(out, "run", {}, ("brokerage",))
    usual: dict[str, Any] = {"loaded": LOADED, "users": 1, "warmup_s": 0.0, "seed": 4}
    plan = OltpPlan("brokerage", mode=mode, **{**usual, **more})
    if mode == "procedure":
        drive.program(recorder, target, "brokerage")
    asked = plan_of(recorder, target, plan)
    asked["workload"]["params"]["step_ms"] = step_ms
    outcome = run_engine("drive", asked, Silent())
    recorder.finish("done")
    recorder.close()
    return outcome


def violated(target: Target) -> list[str]:
    check = workloads.get("brokerage").check
    checks = check(target.name, lambda: target.connect("brokerage"), LOADED, "run")
    return [f"{item.name}: {item.message}" for item in checks if item.passed is False]


def all_sent(copies: Copies, out: Path, mode: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The operations of a run that sent all that was due, and what it left in the tables.

    Time passes with the transactions, so a seed determines all of them, however slow the machine.
    """
    for seconds in (4, 8, 16, 32, 64, 128):
        rate: dict[str, Any] = {"rate_per_s": TRANSACTIONS / seconds, "poisson": False}
        with copies.make(mode) as target:
            outcome = run(target, out, mode, STEP_MS, duration_s=float(seconds), **rate)
            left = contents(copies, target, "brokerage")
            assert violated(target) == []
        assert outcome["errors_first"] == {}
        if outcome["unsent"] == 0:
            assert outcome["scheduled"] == TRANSACTIONS
            return outcome["ops"], left
    raise AssertionError("the machine did not send all that was due")


@pytest.mark.long
def test_the_same_inputs_leave_the_same_tables(copies: Copies, out: Path) -> None:
    with copies.whole() as target:
        before = contents(copies, target, "brokerage")
    left: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    try:
        for mode in ("client", "procedure"):
            ops, left[mode] = all_sent(copies, out, mode)
            counts[mode] = {name: (op["done"], op["rolled_back"]) for name, op in ops.items()}
    finally:
        copies.remove()
    apart = {
        name: sum(
            abs(one - other) for one, other in zip(counts["procedure"][name], found, strict=True)
        )
        for name, found in counts["client"].items()
    }
    assert sum(apart.values()) <= 1  # the last transaction may end after the window
    assert len(counts["client"]) == 11
    assert counts["client"]["data_maintenance"][0] >= 12
    assert left["client"] == left["procedure"]
    changed = {table for table in before if left["client"][table] != before[table]}
    assert changed == OF_TRADES | MAINTAINED


@pytest.mark.long
@pytest.mark.parametrize("mode", ["client", "procedure"])
def test_users_at_once_leave_consistent_data(copies: Copies, out: Path, mode: str) -> None:
    if isinstance(copies, SqlServerCopies) and copies.ignores_hints:
        pytest.skip("Babelfish ignores UPDLOCK, so results of one account do not wait")
    try:
        with copies.make("crowd") as target:
            outcome = run(target, out, mode, None, users=8, duration_s=8.0)
            assert all(item["errors"] == {} for item in outcome["ops"].values())
            assert outcome["ops"]["trade_result"]["done"] > 50
            assert violated(target) == []
            # A second level cancels what the first left unfinished, also what is dated later.
            with closing(target.connect("brokerage")) as session:
                order_later(session.execute)
            outcome = run(target, out, mode, None, users=2, duration_s=2.0)
            assert violated(target) == []
    finally:
        copies.remove()


@pytest.mark.long
def test_a_cleanup_that_waits_takes_nothing_from_the_window(copies: Copies, out: Path) -> None:
    """Somebody holds an unfinished order for longer than the window, as a level begins."""
    held_s, window_s = 3.0, 1.0
    try:
        with copies.make("held") as target:
            run(target, out, "client", None, users=4, duration_s=2.0)
            with closing(target.connect("brokerage")) as session:
                isolation, level = require(target, None)
                for statement in isolation.begin(level, True):
                    session.execute(statement)
                unfinished = "t_st_id IN ('PNDG', 'SBMT')"
                assert session.execute(f"SELECT t_id FROM trade WHERE {unfinished}").rows
                session.execute(f"UPDATE trade SET t_qty = t_qty WHERE {unfinished}")
                release = threading.Timer(held_s, lambda: session.execute("COMMIT"))
                begun = time.monotonic()
                release.start()
                outcome = run(target, out, "client", None, users=16, duration_s=window_s)
                assert time.monotonic() - begun >= held_s + window_s
                release.join()
            assert outcome["ops"]["trade_status"]["done"] > 0
            slowest = max(op["response_ms"]["max"] for op in outcome["ops"].values())
            assert slowest < 1000 * window_s, "no transaction waited for the lock"
            assert violated(target) == []
    finally:
        copies.remove()
