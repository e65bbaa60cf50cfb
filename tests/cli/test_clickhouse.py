"""ClickHouse on the command line: settings, layouts, cold starts, plans and checks in one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.bundle.reader import Bundle
from dyno.cli import cli
from dyno.errors import UsageError
from tests.conftest import missing
from tests.process import dyno, no_server_left, spoilt

CLICKHOUSE = ("--target", "embedded:clickhouse")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    out = tmp_path_factory.mktemp("out")
    done = dyno(
        "load", "tpch", *CLICKHOUSE, "--scale", "0.01", "--layout", "partitioned-4", "--json",
        "--out", out,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr  # 1: the machine was busy
    return out, json.loads(done.stdout)


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno("run", "tpch", *CLICKHOUSE, *args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    assert not spoilt(document), done.stderr
    no_server_left(out)
    return document, Bundle.open(Path(document["bundle"]))


def test_the_layout_and_its_steps_are_reported(loaded: tuple[Path, dict[str, Any]]) -> None:
    _, document = loaded
    assert "lineitem" in document["layout"]["tables"]
    steps = document["tpch"]["engines"]["clickhouse"]["load_steps"]
    assert [step["kind"] for step in steps] == ["create", "load", *["merge"] * 8]
    assert steps[1]["extra_peak_bytes"] >= steps[1]["extra_rest_bytes"] > 1_000_000
    assert "4 partitions by l_shipdate" in Path(document["sheet"]).read_text(encoding="utf-8")


def test_settings_a_cold_start_query_metrics_and_plans(loaded: tuple[Path, dict[str, Any]]) -> None:
    out, _ = loaded
    given = ("--set", "memory=512MB", "--set", "parallelism=1", "--cold", "--plans")
    document, bundle = run(out, *given)
    memory, query_memory, parallelism = document["settings"]["clickhouse"]
    assert (memory["name"], memory["found"]) == ("max_server_memory_usage", str(512 << 20))
    assert query_memory["name"] == "max_memory_usage"
    assert (parallelism["name"], parallelism["found"]) == ("max_threads", "1")
    assert all(item["restored"] for item in document["settings"]["clickhouse"])
    assert document["cache"]["state"] == "cold"
    proof = document["cache"]["proofs"]["clickhouse"]
    assert proof["before_bytes"] > 0.5 * proof["bytes"] > 0
    assert proof["left_share"] <= 0.01
    queries = document["tpch"]["engines"]["clickhouse"]["queries"]
    assert len(queries) == 22
    for query in queries:
        assert query["bytes_read"] > 0
        assert query["temp_bytes"] == 0
        assert query["peak_memory_bytes"] > 0
        plan = json.loads((bundle.path / query["plan"]).read_text())
        assert plan["plan"]["pipeline"]
        assert "└─" in plan["text"]
    report = (bundle.path / "sheet.html").read_text(encoding="utf-8")
    assert "Changed on ClickHouse for this run" in report
    assert "evicted its files" in report


@pytest.mark.long
def test_cold_before_each_query(loaded: tuple[Path, dict[str, Any]]) -> None:
    document, _ = run(loaded[0], "--cold-each-query")
    assert document["settings"] == {}
    assert document["cache"]["proofs"]["clickhouse"]["times"] == 22
    assert document["cache"]["proofs"]["clickhouse"]["left_share"] <= 0.01


@pytest.mark.long
def test_an_integrity_check_beside_the_queries(loaded: tuple[Path, dict[str, Any]]) -> None:
    document, bundle = run(loaded[0], "--duration", "1s", "--during", "integrity-check")
    (entry,) = document["maintenance"]
    assert entry["error"] is None
    assert min(entry["before_qph"], entry["during_qph"], entry["after_qph"]) > 0
    checks = [check for check in bundle.checks() if check.name.startswith("integrity-check ")]
    assert len(checks) == 8
    assert all(check.passed for check in checks)
    done = dyno("run", "tpch", *CLICKHOUSE, "--during", "reindex", "--out", loaded[0])
    assert done.returncode == 2
    assert "there is nothing to rebuild" in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("run", "tpch", "--set", "temp_path=/tmp"), "ignores tmp_path"),
        (("run", "tpch", "--set", "checksums=off"), "It has: memory, parallelism, work_memory"),
        (("run", "tpch", "--set", "memory=1MB"), "ClickHouse is 64MB"),
        (("load", "tpch", "--scale", "0.01", "--layout", "keys-foreign"), "no foreign keys"),
    ],
)
def test_wrong_use_touches_nothing(tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError) as caught:
        cli.main([*args, *CLICKHOUSE, "--out", str(out)], standalone_mode=False)
    assert message in str(caught.value)
    assert not out.exists()
