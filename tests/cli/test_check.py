"""``dyno check``: one wrong value in a loaded table, found and shown everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.process import assert_valid, dyno


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("check")
    file = folder / "a.duckdb"
    load = ("load", "tpch", "--target", f"duckdb://{file}", "--scale", "0.01", "--json")
    assert_valid(dyno(*load, "--out", folder / "out"))
    return file, folder / "out"


def test_one_wrong_value_is_found_and_shown(loaded: tuple[Path, Path]) -> None:
    file, out = loaded
    check = ("check", "tpch", "--target", f"duckdb://{file}", "--answers", "--json", "--out", out)
    right = dyno(*check)
    assert right.returncode == 0, right.stderr
    document = json.loads(right.stdout)
    checks = json.loads((Path(document["bundle"]) / "checks.json").read_text())
    assert sum(item["name"].startswith("answers-expected-") for item in checks) == 22
    assert sum(item["name"].startswith("content of ") for item in checks) == 8
    assert all(item["passed"] for item in checks)

    with duckdb.connect(file) as connection:
        connection.execute(
            "UPDATE dyno_tpch.lineitem SET l_quantity = l_quantity + 1 "
            "WHERE l_orderkey = 1 AND l_linenumber = 1"
        )
    wrong = dyno(*check)
    assert wrong.returncode == 1, wrong.stderr
    document = json.loads(wrong.stdout)
    assert {reason["code"] for reason in document["reasons"]} >= {"wrong-answers", "inconsistent"}
    bundle = Path(document["bundle"])
    checks = {item["name"]: item for item in json.loads((bundle / "checks.json").read_text())}
    q01 = checks["answers-expected-q01"]
    (row,) = q01["detail"]["diff"]["rows"]
    assert row["key"] == {"l_returnflag": "N", "l_linestatus": "O", "count_order": "29181"}
    assert row["values"] == [{"column": "sum_qty", "texts": ["742803", "742802"], "rule": "equal"}]
    content = checks["content of lineitem"]
    assert content["passed"] is False
    assert set(content["detail"]) == {"l_quantity"}
    shown = wrong.stderr[wrong.stderr.index("answers-expected-q01 on duckdb") :].splitlines()
    assert shown[:3] == [
        "answers-expected-q01 on duckdb: got | expected",
        "  row 3, l_returnflag=N, l_linestatus=O, count_order=29181",
        "    sum_qty: 742803 | 742802  (equal)",
    ]
    report = (bundle / "sheet.html").read_text()
    assert "answers-expected-q01 on DuckDB" in report
    assert "742803" in report
    assert "742802" in report


def test_there_are_no_answers_to_transactions(tmp_path: Path) -> None:
    done = dyno("check", "tpcc", "--target", "embedded:duckdb", "--answers", "--out", tmp_path)
    assert done.returncode == 2
    assert "no queries" in done.stderr
