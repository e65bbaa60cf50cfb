"""Queries on the tables of transactions: loaded once, used by both, with answers or a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from dyno.bundle import check_names
from dyno.bundle.model import Check
from dyno.bundle.reader import Bundle
from tests.process import assert_valid, dyno

pytestmark = pytest.mark.long

TARGET = ("--target", "embedded:duckdb", "--json")


def checks(document: dict[str, Any]) -> list[Check]:
    return Bundle.open(Path(document["bundle"])).checks()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One warehouse, as ``dyno load tpcc`` leaves it."""
    out = tmp_path_factory.mktemp("out")
    assert_valid(dyno("load", "tpcc", *TARGET, "--scale", "1", "--out", out))
    return out


def test_data_of_transactions_serves_queries(out: Path) -> None:
    missing = dyno("check", "ch", *TARGET, "--out", out)
    assert missing.returncode == 2
    assert "dyno load ch" in missing.stderr

    run = dyno("run", "ch", *TARGET, "--out", out)
    document = assert_valid(run)
    assert "Adding the tables of ch to those of tpcc" in run.stderr
    engine = document["workloads"]["ch"]["engines"]["duckdb"]
    assert len(engine["queries"]) == 22
    assert document["workloads"]["ch"]["scale"] == 1
    assert document["workloads"]["ch"]["answers_match"] is True
    assert engine["freshness_ms"] is None  # nothing ran beside
    passed = {check.name for check in checks(document) if check.passed}
    assert {f"answers-expected-q{number:02}" for number in range(1, 23)} <= passed

    again = dyno("load", "ch", *TARGET, "--scale", "1", "--out", out)
    assert again.returncode == 2
    assert "--replace" in again.stderr
    other = dyno("load", "ch", *TARGET, "--scale", "2", "--out", out)
    assert other.returncode == 2
    assert "scale 1" in other.stderr


def test_on_changed_data_answers_are_not_compared(out: Path) -> None:
    file = out / "engines" / "duckdb" / "dyno.duckdb"
    with duckdb.connect(str(file)) as session:
        session.execute("DELETE FROM dyno_tpcc.new_order WHERE no_o_id = 2101 AND no_d_id = 1")
    document = assert_valid(dyno("run", "ch", *TARGET, "--test", "throughput", "--out", out))
    found = checks(document)
    (skipped,) = [check for check in found if check.name == check_names.UNPROVEN]
    assert skipped.passed is None
    assert "transactions changed the data" in skipped.message
    assert not any(check.name.startswith("answers-expected") for check in found)
    assert document["workloads"]["ch"]["engines"]["duckdb"]["throughput_without_refresh"] > 0

    asked = assert_valid(dyno("check", "ch", *TARGET, "--answers", "--out", out))
    found = checks(asked)
    assert [check.passed for check in found if check.name == check_names.UNPROVEN] == [None]
    assert not any(check.name.startswith("answers-expected") for check in found)

    refused = dyno("run", "ch", *TARGET, "--refresh", "--out", out)
    assert refused.returncode == 2
    assert "--refresh" in refused.stderr
