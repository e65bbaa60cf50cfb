"""The JSON document names the numbers of what it says, where a run has several of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dyno.report import document
from tests.bundles import Builder
from tests.judged import judged


def made(builder: Builder) -> dict[str, Any]:
    found = judged(builder.write())
    return document(found.bundle, found.estimates, found.findings)


def test_load_rates_are_those_of_the_first_database(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", "load").machine().target("postgresql")
    builder.load("tpch", "postgresql", 8.0, 1.0)
    again = len(builder.phases)
    builder.load("tpch", "postgresql", 80.0, 1.0)
    second = builder.phases[again]
    second.name = "load-tpch@2-postgresql"
    second.detail["database"] = 2
    engine = made(builder)["tpch"]["engines"]["postgresql"]
    assert engine["load_s"] == 8.0
    assert [rate["seconds"] for rate in engine["load_by_streams"]] == [8.0]


def test_freshness_is_that_of_queries_whose_data_transactions_change(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", "run").machine().target("postgresql")
    builder.power("postgresql", (0.5,) * 22)
    builder.workloads.append("ch")
    builder.tables["queries"][0]["freshness_ms"] = 2.5
    found = made(builder)["workloads"]
    assert found["tpch"]["engines"]["postgresql"]["freshness_ms"] is None
    assert found["ch"]["engines"]["postgresql"]["freshness_ms"] == 2.5
