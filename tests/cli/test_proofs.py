"""What ``dyno run tpch`` proves, and says of itself, whichever tests are chosen."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import Bundle, list_bundles
from tests.process import dyno

DUCKDB = ("--target", "embedded:duckdb")
THROUGHPUT = ("--test", "throughput", "--streams", "1")
SHIPPED, OTHER = "0.01", "0.02"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """DuckDB at a scale with expected answers, and at one without."""
    found: dict[str, Path] = {}
    for scale in (SHIPPED, OTHER):
        found[scale] = tmp_path_factory.mktemp("proofs")
        done = dyno("load", "tpch", *DUCKDB, "--scale", scale, "--out", found[scale])
        assert done.returncode in {0, 1}, done.stderr  # 1: the machine was busy
    return found


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno("run", "tpch", *DUCKDB, *args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    return json.loads(done.stdout), list_bundles(out)[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "args",
    [
        ("--refresh",),
        ("--no-warming", "--parameters", "seeded"),
        (*THROUGHPUT, "--no-refresh", "--cold"),
        ("--test", "full", "--streams", "1", "--parameters", "validation"),
    ],
    ids=" ".join,
)
def test_every_run_proves_the_answers_of_all_queries(
    folders: dict[str, Path], args: tuple[str, ...]
) -> None:
    document, bundle = run(folders[SHIPPED], *args)
    checks = bundle.checks()
    assert {check.passed for check in checks} == {True}
    kinds = Counter(check.name.rpartition("-")[0] for check in checks)
    assert kinds["answers-expected"] == 22
    assert document["tpch"]["answers_match"] is True
    assert (document["cache"]["tests"] == {"throughput": "cold"}) == ("--cold" in args)
    findings = json.loads((bundle.path / "findings.json").read_text())
    assert not {"wrong-answers", "inconsistent"} & {item["code"] for item in findings}


@pytest.mark.long
def test_the_order_of_rows_is_no_proof_of_answers(folders: dict[str, Path]) -> None:
    document, bundle = run(folders[OTHER], *THROUGHPUT, "--no-refresh")
    checks = {check.name: check for check in bundle.checks()}
    assert sum(name.startswith("order-streams-") for name in checks) == 22
    assert not [name for name in checks if name.startswith("answers-")]
    assert checks["expected answers"].passed is None
    assert document["tpch"]["answers_match"] is None
    report = (bundle.path / "sheet.html").read_text(encoding="utf-8")
    assert "Row order" in report
    assert document["cache"] == {"state": "first", "tests": {"throughput": "first"}, "proofs": {}}
    assert bundle.run.plan["cache"] == "first"
    assert "First pass: no query ran before" in report
    assert "ran once before" not in report


def test_only_the_first_of_two_tests_starts_cold(folders: dict[str, Path]) -> None:
    document, bundle = run(
        folders[OTHER], "--test", "full", "--streams", "1", "--no-refresh", "--cold"
    )
    assert document["cache"]["tests"] == {"power": "cold", "throughput": "after-power"}
    report = (bundle.path / "sheet.html").read_text(encoding="utf-8")
    assert "Caches as left by the power test" in report
