"""Queries in several databases at once, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import Bundle
from tests.process import dyno, spoilt

SEVERAL = ("--target", "embedded:duckdb", "--databases", "2")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("several")
    _, bundle = run(out, "load", "tpch", *SEVERAL, "--scale", "0.01")
    loads = [phase.name for phase in bundle.run.phases if phase.kind == "load"]
    assert loads == ["load-tpch-duckdb", "load-tpch@2-duckdb"]
    assert all(check.passed is not False for check in bundle.checks())
    return out


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno(*args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    assert not spoilt(document), document["reasons"]
    return document, Bundle.open(Path(document["bundle"]))


def test_users_of_each_database_at_once(loaded: Path) -> None:
    document, bundle = run(loaded, "run", "tpch", *SEVERAL, "--users", "2", "--no-refresh")
    engine = document["tpch"]["engines"]["duckdb"]
    assert [one["database"] for one in engine["streams"]] == [1, 1, 2, 2]
    assert sum(one["done"] for one in engine["streams"]) == 4 * 22
    assert [(one["database"], one["done"], one["failed"]) for one in engine["databases"]] == [
        (1, 44, 0), (2, 44, 0)
    ]  # fmt: skip
    assert engine["throughput_without_refresh"] > 0
    (phase,) = [phase for phase in bundle.run.phases if phase.kind == "dss"]
    assert (phase.detail.streams, phase.detail.streams_each, phase.detail.databases) == (4, 2, 2)
    answers = [check for check in bundle.checks() if check.name.startswith("answers-expected")]
    assert len(answers) == 44 and all(check.passed for check in answers)
    assert sum(check.name.endswith(" of database 2") for check in answers) == 22


def test_maintenance_of_one_of_them_beside_queries_in_all(loaded: Path) -> None:
    document, bundle = run(
        loaded, "run", "tpch", *SEVERAL, "--streams", "1", "--no-refresh", "--duration", "300ms",
        "--during", "integrity-check", "--during-database", "2",
    )  # fmt: skip
    (entry,) = document["maintenance"]
    assert entry["before_qph"] > 0 and entry["during_qph"] > 0
    assert [one["database"] for one in entry["databases"]] == [1, 2]
    assert all(one["before_qph"] > 0 for one in entry["databases"])
    rows = bundle.table("during").to_pylist()
    assert {row["database"] for row in rows} == {1, 2}
    assert {row["stream"] for row in rows} == {1, 2}
    (work,) = [phase for phase in bundle.run.phases if phase.kind == "maintenance"]
    assert (work.detail.database, work.detail.streams, work.detail.streams_each) == (2, 2, 1)
    assert any(check.name == "integrity-check orders of database 2" for check in bundle.checks())


def test_missing_databases_are_reported(loaded: Path) -> None:
    done = dyno("run", "tpch", *SEVERAL[:2], "--databases", "3", "--users", "1", "--out", loaded)
    assert done.returncode == 2, done.stderr
    assert "holds no database 3 of tpch" in done.stderr
    assert "--scale 0.01 --databases 3 --resume" in done.stderr


def test_answers_of_each_are_checked(loaded: Path) -> None:
    _, bundle = run(loaded, "check", "tpch", *SEVERAL, "--answers")
    names = {check.name for check in bundle.checks() if check.passed}
    assert {"answers-expected-q01", "answers-expected-q01 of database 2"} <= names
    assert {"rows of orders", "rows of orders of database 2"} <= names
