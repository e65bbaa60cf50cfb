"""MariaDB on the command line: a layout, settings and cold queries, into one bundle each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import Bundle
from tests.mariadb import require_mariadb
from tests.process import dyno, no_server_left, spoilt

TARGET = ("--target", "embedded:mysql")


@pytest.mark.long
def test_layout_settings_and_cold_runs_reach_bundle_and_report(out: Path) -> None:
    require_mariadb()
    load = dyno(
        "load", "tpch", "--scale", "0.01", *TARGET, "--layout", "partitioned-4",
        "--set", "commit=relaxed", "--set", "checkpoint_size=64MB", "--json", "--out", out,
    )  # fmt: skip
    assert load.stdout, load.stderr
    document: dict[str, Any] = json.loads(load.stdout)
    assert not spoilt(document)
    commit, log = document["settings"]["mysql"]
    assert (commit["name"], commit["found"]) == ("innodb_flush_log_at_trx_commit", "0")
    assert (log["name"], log["found"]) == ("innodb_log_file_size", str(64 << 20))
    bundle = Bundle.open(Path(document["bundle"]))
    assert all(check.passed for check in bundle.checks())
    assert bundle.run.plan["layout"] == document["layout"]
    steps = document["tpch"]["engines"]["mysql"]["load_steps"]
    assert [step["kind"] for step in steps[:2]] == ["create", "load"]
    assert steps[1]["extra_peak_bytes"] >= steps[1]["extra_rest_bytes"] > 1_000_000
    assert {step["kind"] for step in steps[2:]} == {"index", "analyse"}
    assert all(step["extra_peak_bytes"] is not None for step in steps[2:])
    report = Path(document["sheet"]).read_text(encoding="utf-8")
    assert "4 partitions by l_shipdate" in report
    assert "no longer enforces (l_orderkey, l_linenumber)" in report

    run = dyno("run", "tpch", *TARGET, "--cold", "--set", "work_memory=8MB", "--json", "--out", out)
    assert run.stdout, run.stderr
    result: dict[str, Any] = json.loads(run.stdout)
    assert not spoilt(result)
    assert result["layout"] == document["layout"]
    assert result["settings"]["mysql"][0]["name"] == "sort_buffer_size"
    assert all(item["restored"] for item in result["settings"]["mysql"])
    assert result["cache"]["state"] == "cold"
    proof = result["cache"]["proofs"]["mysql"]
    assert proof["bytes"] > 10_000_000
    assert proof["left_share"] <= 0.01
    assert len(result["tpch"]["engines"]["mysql"]["queries"]) == 22
    no_server_left(out)
