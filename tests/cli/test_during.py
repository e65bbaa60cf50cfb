"""``dyno run --during`` and ``--plans``, on real servers."""

from __future__ import annotations

import json
import os
import signal
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from dyno import workloads
from dyno.bundle.reader import Bundle, list_bundles
from tests.process import dyno, end, no_server_left, spoilt, start, wait_for_phase

POSTGRESQL = ("--target", "embedded:postgresql")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    for workload, scale in (("tpcc", "1"), ("tpch", "0.01")):
        done = dyno("load", workload, *POSTGRESQL, "--scale", scale, "--quiet", "--out", out)
        assert done.returncode in {0, 1}, done.stderr
    return out


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno("run", *args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    codes = spoilt(document)
    assert codes <= {"unsteady", "client-bound"}, document["reasons"]
    return document, Bundle.open(Path(document["bundle"]))


@pytest.mark.long
def test_reindex_under_transactions(loaded: Path) -> None:
    document, bundle = run(
        loaded, "tpcc", *POSTGRESQL, "--users", "2", "--warmup", "300ms", "--duration", "2s",
        "--during", "reindex",
    )  # fmt: skip
    (entry,) = document["maintenance"]
    assert entry["error"] is None
    assert entry["rounds"] >= 1
    assert min(entry["before_tps"], entry["during_tps"], entry["after_tps"]) > 0
    assert entry["during_change_percent"] is not None
    assert entry["space_peak_bytes"] > 0
    assert entry["space_estimate_bytes"] > 0
    (level,) = [phase for phase in bundle.run.phases if phase.kind == "oltp"]
    (work,) = [phase for phase in bundle.run.phases if phase.kind == "maintenance"]
    # The level spans the maintenance, and its outcome is complete although it ended early.
    assert work.end_ns is not None
    assert level.end_ns is not None
    assert level.start_ns < work.start_ns < work.end_ns < level.end_ns
    estimates = {one.name: one for one in bundle.estimates()}
    assert estimates["oltp.users-2.checkpoints"].value >= 0
    assert estimates["oltp.users-2.checkpoint_interval_s"].source == "checkpoint_timeout"
    outcome = level.detail.outcome
    assert outcome.seconds == level.detail.duration_s < 600
    rows = bundle.table("ops/users-2").to_pylist()
    counted = sum(row["done"] + row["rolled_back"] for row in rows if row["phase"] == "measure")
    assert counted == sum(op.done + op.rolled_back for op in outcome.ops.values())
    samples = bundle.table("samples").to_pylist()
    assert any(row["source"] == "maintenance" and row["value"] > 0 for row in samples)
    checks = {check.name: check.passed for check in bundle.checks()}
    assert checks["reindex"] is True
    assert checks["condition 1"] is True


@pytest.mark.long
def test_backup_under_transactions_on_a_server_started_for_it(loaded: Path) -> None:
    document, bundle = run(
        loaded, "tpcc", *POSTGRESQL, "--users", "2", "--warmup", "300ms", "--duration", "1s",
        "--during", "backup",
    )  # fmt: skip
    (entry,) = document["maintenance"]
    assert entry["error"] is None
    assert entry["written_bytes"] > 100_000_000 * entry["rounds"]
    assert entry["mb_per_s"] > 0
    assert entry["space_peak_bytes"] > 0
    assert {check.name: check.passed for check in bundle.checks()}["backup"] is True
    assert "MB/s" in (bundle.path / "sheet.html").read_text()
    assert not (loaded / "scratch").exists()
    (conf,) = loaded.rglob("postgresql.conf")
    assert "wal_level = 'minimal'" in conf.read_text()


@pytest.mark.long
def test_integrity_check_under_queries_and_the_plans_of_them(loaded: Path) -> None:
    document, bundle = run(
        loaded, "tpch", *POSTGRESQL, "--duration", "1s", "--during", "integrity-check",
        "--streams", "2", "--analyse-plans",
    )  # fmt: skip
    (entry,) = document["maintenance"]
    assert entry["level"] is None
    assert min(entry["before_qph"], entry["during_qph"], entry["after_qph"]) > 0
    rows = bundle.table("during").to_pylist()
    # The requested number of streams, each repeating its own order.
    for stream in (1, 2):
        asked = [row["query"] for row in rows if row["stream"] == stream]
        order = workloads.get("tpch").order(stream, 1)
        assert asked == list(islice(cycle(order), len(asked)))
    assert {row["stream"] for row in rows} == {1, 2}
    met = {
        part: {row["query"] for row in rows if row["part"] == part}
        for part in ("before", "during", "after")
    }
    assert {len(queries) for queries in met.values()} == {22}
    assert all(row["error"] is None for row in rows)
    assert sum(check.name.startswith("integrity-check ") for check in bundle.checks()) == 20
    queries = document["tpch"]["engines"]["postgresql"]["queries"]
    for query in queries:
        plan = json.loads((bundle.path / query["plan"]).read_text())
        assert "Actual Rows" in json.dumps(plan["plan"])
        assert plan["text"]
        assert (
            query["bytes_read"] is not None
            or "other sessions" in query["figures_from"]["bytes_read"]
        )
    assert (bundle.path / "sheet.html").read_text().count("└─") > 22


@pytest.mark.long
@pytest.mark.parametrize("name", ["integrity-check", "backup"])
def test_ctrl_c_during_maintenance(loaded: Path, name: str) -> None:
    process = start(
        "run", "tpcc", *POSTGRESQL, "--users", "3", "--warmup", "300ms", "--duration", "2s",
        "--during", name, "--out", loaded,
    )  # fmt: skip
    wait_for_phase(process, loaded, f"{name}-tpcc-postgresql-users-3")
    os.kill(process.pid, signal.SIGINT)
    code, _, errors = end(process)
    assert code == 130, errors
    assert "Traceback" not in errors
    no_server_left(loaded)
    bundle = list_bundles(loaded)[0]
    assert bundle.run.status == "interrupted"
    assert all(phase.end_ns is not None for phase in bundle.run.phases)
    assert not (loaded / "scratch").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("tpcc", "--target", "null:", "--during", "reindexx"), "Did you mean 'reindex'?"),
        (("tpcc", "--target", "null:", "--during", "reindex"), "Dyno has no maintenance"),
        (("tpcc", "--target", "null:", "--plans"), "tpcc has none"),
        (("tpcc", "--target", "null:", "--during", "reindex", "--during-limit", "x"), "30s"),
    ],
)
def test_wrong_use(out: Path, args: tuple[str, ...], words: str) -> None:
    done = dyno("run", *args, "--out", out)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
