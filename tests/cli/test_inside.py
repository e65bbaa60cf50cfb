"""What databases report from inside reaches the bundle of a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from dyno import targets
from dyno.bundle.inside import SESSIONS, SOURCE, WAIT_CLASSES, Inside
from dyno.bundle.reader import Bundle
from tests.conftest import missing
from tests.mariadb import require_mariadb
from tests.process import document, dyno


def run(out: Path, workload: str, name: str, *options: str, load: Iterable[str] = ()) -> Bundle:
    """Loads and runs a workload on a private engine; the bundle of the run."""
    where = ("--target", f"embedded:{name}", "--json", "--out", out)
    assert dyno("load", workload, *load, *where).returncode in (0, 1)
    return Bundle.open(Path(document(dyno("run", workload, *options, *where))["bundle"]))


def sampled(bundle: Bundle, source: str) -> dict[str, list[float]]:
    """The values of a source by metric."""
    found: dict[str, list[float]] = {}
    for row in bundle.table("samples").to_pylist():
        if row["source"] == source:
            found.setdefault(row["metric"], []).append(row["value"])
    return found


def journal(bundle: Bundle) -> str:
    return (bundle.path / "events.jsonl").read_text("utf-8")


@pytest.mark.long
def test_transactions_on_mariadb(out: Path) -> None:
    require_mariadb()
    users = ("--users", "2", "--warmup", "1s", "--duration", "5s")
    bundle = run(out, "tpcc", "mysql", *users, load=("--scale", "1"))
    database, sessions = sampled(bundle, SOURCE), sampled(bundle, SESSIONS)
    assert {Inside.commits, Inside.hit_ratio, Inside.log_mbps} < database.keys()
    commits = database[Inside.commits]
    done = sum(bundle.table("ops/users-2")["done"].to_pylist())
    # Each transaction commits once; the first second and the edges have no rate.
    assert 0.3 * done < sum(commits) < 1.5 * done
    assert max(database[Inside.connections]) <= 12
    active = sum(map(sum, sessions.values())) / len(commits)
    assert 0 < active <= 2.5
    assert {metric.partition("/")[0] for metric in sessions} <= set(WAIT_CLASSES)
    (note,) = bundle.run.targets["mysql"].inside_notes
    assert "performance_schema is OFF" in note
    assert "probe-" not in journal(bundle)


@pytest.mark.long
def test_queries_on_duckdb_that_start_cold(out: Path) -> None:
    options = ("--test", "power", "--cold-each-query")
    bundle = run(out, "tpch", "duckdb", *options, load=("--scale", "0.3"))
    found = sampled(bundle, SOURCE)
    assert found.keys() == {Inside.memory, Inside.temp_used}
    assert max(found[Inside.memory]) > 100_000
    assert all(row["error"] is None for row in bundle.table("queries").to_pylist())


@pytest.mark.long
def test_queries_on_clickhouse(out: Path) -> None:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    bundle = run(out, "tpch", "clickhouse", "--test", "power", load=("--scale", "0.01"))
    statements = bundle.table("statements").to_pylist()
    assert len([row for row in statements if "lineitem" in row["text"]]) >= 10
    assert {row["target"] for row in statements} == {"clickhouse"}
    assert all(row["calls"] >= 1 and row["end_ns"] > row["t_ns"] for row in statements)
