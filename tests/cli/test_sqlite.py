"""SQLite by the command line: layout, settings, cold runs, plans, upkeep beside queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import Bundle
from tests.process import dyno, spoilt

SQLITE = ("--target", "embedded:sqlite")
BUSY = {"unsteady", "client-bound"}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """The clustered layout, with the document of the load and what was said."""
    out = tmp_path_factory.mktemp("out")
    done = dyno(
        "load", "tpch", *SQLITE, "--scale", "0.01", "--layout", "clustered",
        "--set", "memory=300MB", "--json", "--out", out,
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    return out, json.loads(done.stdout), done.stderr


def run(out: Path, *args: str) -> tuple[dict[str, Any], Bundle]:
    done = dyno("run", "tpch", *SQLITE, *args, "--json", "--out", out)
    assert done.returncode in {0, 1}, done.stderr
    document = json.loads(done.stdout)
    assert spoilt(document) <= BUSY, document["reasons"]
    return document, Bundle.open(Path(document["bundle"]))


def test_a_load_reports_layout_settings_and_steps(loaded: tuple[Path, dict[str, Any], str]) -> None:
    _, document, said = loaded
    assert "memory=300MB → cache_size = -307200" in said
    (memory,) = document["settings"]["sqlite"]
    assert (memory["found"], memory["restored"]) == ("-307200", True)
    steps = document["tpch"]["engines"]["sqlite"]["load_steps"]
    kinds = [step["kind"] for step in steps]
    assert kinds[:3] == ["create", "load", "cluster"]
    assert {"primary key", "index", "analyse"} <= set(kinds)
    assert all(step["extra_peak_bytes"] is not None for step in steps)
    bundle = Bundle.open(Path(document["bundle"]))
    assert all(check.passed for check in bundle.checks())
    assert "clustered by l_shipdate" in Path(document["sheet"]).read_text(encoding="utf-8")


def test_a_cold_run_is_proven_with_settings_and_plans(
    loaded: tuple[Path, dict[str, Any], str],
) -> None:
    document, bundle = run(
        loaded[0], "--cold", "--plans", "--set", "parallelism=1", "--set", "commit=relaxed"
    )
    found = {item["name"]: item["found"] for item in document["settings"]["sqlite"]}
    assert found == {"threads": "0", "synchronous": "1"}
    assert document["cache"]["state"] == "cold"
    proof = document["cache"]["proofs"]["sqlite"]
    assert proof["before_bytes"] > 0.5 * proof["bytes"] > 0
    assert proof["left_share"] <= 0.01
    power = document["tpch"]["engines"]["sqlite"]
    assert len(power["queries"]) == 22
    for query in power["queries"]:
        assert json.loads((bundle.path / query["plan"]).read_text())["text"]
        assert query["temp_bytes"] is not None
    assert sum(query["bytes_read"] for query in power["queries"]) > 0.3 * proof["bytes"]
    assert all(check.passed is not False for check in bundle.checks())


def test_each_query_can_be_cold(loaded: tuple[Path, dict[str, Any], str]) -> None:
    document, _ = run(loaded[0], "--cold-each-query")
    assert document["cache"]["proofs"]["sqlite"]["times"] == 22


@pytest.mark.long
@pytest.mark.parametrize(("name", "checks"), [("integrity-check", 9), ("reindex", 1)])
def test_maintenance_beside_queries(
    loaded: tuple[Path, dict[str, Any], str], name: str, checks: int
) -> None:
    document, bundle = run(loaded[0], "--duration", "1s", "--during", name)
    (entry,) = document["maintenance"]
    assert entry["error"] is None
    assert entry["rounds"] >= 1
    assert min(entry["before_qph"], entry["during_qph"], entry["after_qph"]) > 0
    found = [check for check in bundle.checks() if check.name.startswith(name)]
    assert len(found) == checks
    assert all(check.passed for check in found)
    assert all(row["error"] is None for row in bundle.table("during").to_pylist())
    if name == "reindex":
        assert entry["space_peak_bytes"] > 0
        assert entry["space_estimate_bytes"] > 0


@pytest.mark.long
def test_the_refresh_functions_work_in_a_clustered_table(
    loaded: tuple[Path, dict[str, Any], str],
) -> None:
    document, bundle = run(loaded[0], "--test", "full", "--streams", "2")
    assert all(check.passed is not False for check in bundle.checks())
    assert document["tpch"]["engines"]["sqlite"]["queries"]
    (restored,) = [phase for phase in bundle.run.phases if phase.name.startswith("restore-")]
    assert restored.detail.sets == 3
    deleted = [
        json.loads(row["parameters"])["first_deleted_key"]
        for row in bundle.table("queries").to_pylist()
        if row["query"] == "rf2"
    ]
    assert len(set(deleted)) == 3, "the power test's and one for each stream"


def test_queries_that_are_changed_for_sqlite_stand_in_the_report(
    loaded: tuple[Path, dict[str, Any], str],
) -> None:
    _, bundle = run(loaded[0])
    (power,) = [
        phase for phase in bundle.run.phases if getattr(phase.detail, "test", None) == "power"
    ]
    assert set(power.detail.variants) == {"q05", "q07", "q08", "q10", "q19"}
    report = (bundle.path / "sheet.html").read_text(encoding="utf-8")
    assert "Changed for SQLite" in report
    for words in power.detail.variants.values():
        assert words in report
