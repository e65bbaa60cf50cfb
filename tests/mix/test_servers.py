"""Mixed load on real engines: queries beside transactions, several servers, and faults."""

from __future__ import annotations

import json
import os
import signal
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.mix import MixDetail
from dyno.bundle.reader import Bundle, list_bundles
from tests.mariadb import require_mariadb
from tests.process import dyno, end, no_server_left, servers, spoilt, start, wait_until

PG = ("--target", "embedded:postgresql")
_WRONG = {"incomplete", "inconsistent", "wrong-answers", "errors"}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TPC-C and small TPC-H data in one private PostgreSQL."""
    out = tmp_path_factory.mktemp("mixed")
    for workload, scale in (("tpcc", "1"), ("tpch", "0.01")):
        done = dyno("load", workload, *PG, "--scale", scale, "--json", "--out", out)
        assert done.returncode in {0, 1}, done.stderr
    return out


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno("run", *args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads(done.stdout)
    assert not spoilt(found) & _WRONG, done.stderr  # a busy machine spoils such short windows
    return found, Bundle.open(Path(found["bundle"]))


@pytest.mark.long
def test_queries_beside_transactions(loaded: Path) -> None:
    found, bundle = run(
        loaded, "tpcc+tpch", *PG, "--users", "tpcc=2", "--users", "tpch=2",
        "--duration", "3s", "--warmup", "1s",
    )  # fmt: skip
    (window,) = found["mix"]["windows"]
    tpcc, tpch = window["members"]
    assert (tpcc["level"], tpch["level"]) == ("users-2", None)
    assert tpcc["new_orders_per_min"] > 0
    assert tpch["queries"] > 0 and tpch["queries_failed"] == 0
    assert tpch["queries_per_h"] == pytest.approx(3600 * tpch["queries"] / window["common_s"])
    rows = bundle.table("queries").to_pylist()
    assert {row["stream"] for row in rows} == {1, 2}
    (held,) = those(bundle.run.phases, DssDetail)
    assert held.name == "held-tpch-postgresql" and held.detail.window is not None
    begun, ended = held.detail.window
    assert all(row["end_ns"] >= begun for row in rows)
    assert ended - begun == pytest.approx(3e9, abs=1.5e9)
    answers = [check for check in bundle.checks() if check.name.startswith("answers-expected")]
    assert len(answers) == 22 and all(check.passed for check in answers)
    assert found["tpcc"]["consistency"] is True


@pytest.mark.long
def test_queries_on_the_tables_of_the_transactions_beside_them_are_fresh(loaded: Path) -> None:
    found, bundle = run(
        loaded, "tpcc+ch", *PG, "--users", "tpcc=2", "--users", "ch=2",
        "--duration", "5s", "--warmup", "1s",
    )  # fmt: skip
    (window,) = found["mix"]["windows"]
    tpcc, ch = window["members"]
    assert tpcc["new_orders_per_min"] > 0
    assert ch["queries"] > 0 and ch["queries_failed"] == 0
    assert found["tpcc"]["consistency"] is True
    rows = [row for row in bundle.table("queries").to_pylist() if row["newest_age_ms"] is not None]
    assert rows
    # With one copy of the data, a query sees each order that was committed before it. The newest
    # is one of this run, by the clock of both.
    assert {row["freshness_ms"] for row in rows} == {0}
    (mix,) = those(bundle.run.phases, MixDetail)
    for row in rows:
        assert mix.start_ns < row["t_ns"] - row["newest_age_ms"] * 1e6 <= row["t_ns"]
    engine = found["workloads"]["ch"]["engines"]["postgresql"]
    ages = [row["newest_age_ms"] for row in rows]
    assert (engine["freshness_ms"], engine["newest_age_ms"]) == (0, statistics.median(ages))
    assert "Freshness of the queried data" in (bundle.path / "sheet.html").read_text()


@pytest.mark.long
def test_two_servers_with_six_users_each_run_264_queries(tmp_path: Path) -> None:
    require_mariadb()
    out, names = tmp_path / "out", ("postgresql", "mysql")
    for name in names:
        place = ("--target", f"embedded:{name}")
        done = dyno("load", "tpch", *place, "--scale", "0.02", "--json", "--out", out)
        assert done.returncode in {0, 1}, done.stderr
    two = [word for name in names for word in ("--target", f"embedded:{name}")]
    found, bundle = run(out, "tpch", *two, "--users", "6", "--no-refresh")
    (total,) = found["mix"]["totals"]
    assert (total["targets"], total["queries"]) == (2, 264)
    rows = bundle.table("queries").to_pylist()
    assert not any(row["error"] for row in rows)
    counted = Counter((row["target"], row["stream"]) for row in rows if row["stream"] > 0)
    assert counted == {(name, stream): 22 for name in names for stream in range(1, 7)}
    tests = [phase for phase in bundle.run.phases if phase.kind == "dss"]
    assert max(phase.start_ns for phase in tests) < min(phase.end_ns or 0 for phase in tests)
    # No answers are shipped for this scale: those of the servers are compared.
    pairs = [check for check in bundle.checks() if check.target == "mysql and postgresql"]
    assert len(pairs) == 22 and all(check.passed for check in pairs)
    for name in names:
        engine = found["tpch"]["engines"][name]
        assert engine["throughput_without_refresh"] > 0
    no_server_left(out)


@pytest.mark.long
def test_a_killed_server_ends_all_of_its_work(loaded: Path) -> None:
    process = start(
        "run", "tpcc+tpch", *PG, "--users", "tpcc=2", "--users", "tpch=2", "--duration", "60s",
        "--warmup", "100ms", "--reconnect", "1s", "--json", "--out", loaded,
    )  # fmt: skip
    spool = "*/ops/users-2.jsonl"
    wait_until(lambda: any(file.stat().st_size for file in loaded.glob(spool)), "an interval")
    found = servers(loaded)
    pids = {one.pid for one in found}
    for one in found:
        if one.ppid() not in pids:
            os.kill(one.pid, signal.SIGKILL)
    code, _, errors = end(process)
    assert code == 3, errors
    assert "Traceback" not in errors
    no_server_left(loaded)
    bundle = list_bundles(loaded)[0]
    assert (bundle.run.status, bundle.run.validity.valid) == ("failed", False)
    (mix,) = those(bundle.run.phases, MixDetail)
    assert all(member.error for member in mix.detail.members)
    assert bundle.table("ops/users-2").num_rows > 0


@pytest.mark.long
def test_the_other_server_goes_on(loaded: Path) -> None:
    process = start(
        "run", "tpcc", *PG, "--target", "null:?mean_us=500", "--duration", "6s",
        "--warmup", "100ms", "--reconnect", "500ms", "--json", "--out", loaded,
    )  # fmt: skip
    spool = "*/ops/users-1-postgresql.jsonl"
    wait_until(lambda: any(file.stat().st_size for file in loaded.glob(spool)), "an interval")
    for one in servers(loaded):
        if one.ppid() == process.pid or one.ppid() == 1:
            os.kill(one.pid, signal.SIGKILL)
    code, output, errors = end(process)
    assert code == 3, errors
    assert "The rest ran to the end: null" in errors
    found = json.loads(output)
    (window,) = found["mix"]["windows"]
    lost, kept = window["members"]
    assert lost["error"] and kept["error"] is None
    assert kept["tps"] > 0
    assert found["mix"]["totals"] == [], "a part would look like a slow whole"
    assert found["verdict"] == "invalid"


@pytest.mark.long
def test_an_interrupt_stops_all(loaded: Path) -> None:
    process = start(
        "run", "tpcc+tpch", *PG, "--duration", "60s", "--warmup", "100ms", "--json",
        "--out", loaded,
    )  # fmt: skip
    spool = "*/ops/users-1.jsonl"
    wait_until(lambda: any(file.stat().st_size for file in loaded.glob(spool)), "an interval")
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    no_server_left(loaded)
    bundle = list_bundles(loaded)[0]
    assert bundle.run.status == "interrupted"
    assert {
        phase.status for phase in bundle.run.phases if phase.kind in {"oltp", "dss", "mix"}
    } == {"interrupted"}


def test_query_tests_on_two_servers_are_summed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    two = ("--target", "embedded:duckdb", "--target", f"duckdb://{tmp_path}/second.duckdb")
    for target in (two[:2], two[2:]):
        done = dyno("load", "tpch", *target, "--scale", "0.01", "--json", "--out", out)
        assert done.returncode in {0, 1}, done.stderr
    found, bundle = run(out, "tpch", *two, "--users", "2", "--no-refresh")
    engines = found["tpch"]["engines"]
    assert set(engines) == {"duckdb", "duckdb@2"}
    assert all(one["throughput_without_refresh"] > 0 for one in engines.values())
    (total,) = found["mix"]["totals"]
    assert (total["targets"], total["queries"]) == (2, 2 * 2 * 22)
    tests = [phase for phase in bundle.run.phases if phase.kind == "dss"]
    assert max(phase.start_ns for phase in tests) < min(phase.end_ns or 0 for phase in tests)
    names = {check.target for check in bundle.checks() if check.name.startswith("answers-exp")}
    assert names == {"duckdb", "duckdb@2"}


def test_two_workloads_of_queries_share_a_window(tmp_path: Path) -> None:
    out, target = tmp_path / "out", ("--target", "embedded:duckdb")
    done = dyno("load", "tpch", *target, "--scale", "0.01", "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'name = "mine"\n[[queries]]\nname = "q01"\nsql = "select 7 as seven"\nrows = 1\n'
    )
    found, bundle = run(
        out, f"tpch+{mine}", *target, "--users", "tpch=2", "--users", "mine=1",
        "--duration", "2s", "--warmup", "200ms",
    )  # fmt: skip
    (window,) = found["mix"]["windows"]
    shown = {member["workload"]: member for member in window["members"]}
    assert bundle.run.plan["duration_s"] == 2
    assert window["common_s"] == pytest.approx(2, abs=1)
    phases = those(bundle.run.phases, DssDetail)
    held = {str(one.detail.workload): one.detail.window or (0, 0) for one in phases}
    assert set(held) == set(shown) == {"tpch", "own_mine"}
    begun = max(start for start, _ in held.values())
    ended = min(end for _, end in held.values())
    rows = bundle.table("queries").to_pylist()
    for name, streams in (("tpch", {1, 2}), ("own_mine", {1})):
        own = [row for row in rows if row["workload"] == name]
        assert {row["stream"] for row in own} == streams
        counted = [row for row in own if begun <= row["end_ns"] <= ended]
        assert shown[name]["queries"] == len(counted) > 0
        assert shown[name]["queries_failed"] == 0
    assert {row["rows"] for row in rows if row["workload"] == "own_mine"} == {1}
    answers = [check for check in bundle.checks() if check.name.startswith("answers-expected")]
    assert answers and all(check.passed for check in answers)
