"""``dyno load``: rates by number of streams, and what cannot be asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.process import dyno

LOAD = ("load", "tpch", "--target", "embedded:duckdb", "--scale", "0.01")


@pytest.mark.long
def test_each_number_of_streams_is_a_load_of_its_own_and_the_last_stays(out: Path) -> None:
    done = dyno(*LOAD, "--streams", "1", "--streams", "3", "--streams", "2", "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    rates = document["tpch"]["engines"]["duckdb"]["load_by_streams"]
    assert [rate["streams"] for rate in rates] == [1, 2, 3]
    assert all(rate["gb_per_h"] > 0 and rate["rows_per_s"] > 0 for rate in rates)
    assert "Load rate     DuckDB GB/h by streams 1: " in done.stderr
    bundle = Path(document["bundle"])
    checks = json.loads((bundle / "checks.json").read_text())
    assert all(check["passed"] for check in checks)
    assert "rows of lineitem with 3 streams" in {check["name"] for check in checks}
    report = (bundle / "sheet.html").read_text()
    assert report.count("tpch 0.01 → DuckDB") == 3
    check = dyno("check", "tpch", "--target", "embedded:duckdb", "--scale", "0.01", "--out", out)
    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--streams", "2", "--streams", "2"), "once"),
        (("--resume", "--replace"), "omit --replace"),
        (("--resume", "--streams", "1", "--streams", "2"), "--streams at most once"),
        (("--resume",), "no unfinished load"),
        (("--resume", "--spread", "2"), "omit --volumes and --spread"),
        (("--resume", "--dry-run"), "cannot be combined"),
    ],
)
def test_what_cannot_be(out: Path, more: Any, reason: str) -> None:
    done = dyno(*LOAD, *more, "--out", out)
    assert done.returncode == 2, done.stderr
    assert reason in done.stderr


def test_a_dry_run_changes_nothing(out: Path) -> None:
    done = dyno(*LOAD, "--dry-run", "--json", "--out", out)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"]["orders"] == 15_000
    assert found["statements"] is None
    text = dyno(*LOAD, "--dry-run", "--layout", "bare", "--out", out).stdout
    assert "bare" in text
    assert all(line.startswith("--") for line in text.splitlines())
    assert not any(out.iterdir())
