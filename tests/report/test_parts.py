"""Bundles that lack something give a page that says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dyno.report import document, summary
from tests import bundle_data as data
from tests.bundles import Builder, interrupted, only_io, quickstart
from tests.judged import judged
from tests.report.conftest import Report, report_of

NARROW = "\N{NARROW NO-BREAK SPACE}"


def test_only_storage(tmp_path: Path) -> None:
    found = report_of(judged(only_io(tmp_path).write()))
    assert found.page.sections() == [
        *("headlines", "machine", "storage", "meanwhile", "usage", "volumes"),
        *("method", "repeat"),
    ]
    said = found.page.root.all("div", class_="verdict")[0].text  # the first screen has the answer
    assert "Sequential read, 256 KiB: 1,585 MB/s; " in said.replace(NARROW, " ")
    assert "Not in this run" not in found.page.section("headlines").text  # nothing else was asked
    assert "TPC" not in found.page.root.all("main")[0].text
    assert "dyno io /srv/dyno-runs --step 1.5s" in found.html


def test_an_interrupted_run(tmp_path: Path) -> None:
    found = report_of(judged(interrupted(tmp_path).write("interrupted")))
    verdict = found.page.root.all("div", class_="verdict")[0]
    assert "bad" in verdict.attributes["class"]
    assert "✗ Invalid" in verdict.text
    assert "incomplete" in verdict.all("code")[0].text
    assert verdict.text.count("interrupted during") == 1
    headlines = found.page.section("headlines").text
    assert "TPC-C-derived, 1 user did not complete: interrupted." in headlines
    assert [row[0] for row in found.page.table("Load levels")[1:]] == ["1 user"]


def test_a_killed_run_is_read_from_its_spools(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    last = builder.phases[-1]
    builder.phases[-1] = last.model_copy(update={"status": "running", "end_ns": None})
    found = report_of(judged(builder.write("running")))
    assert "was killed during" in found.page.root.all("div", class_="verdict")[0].text
    assert "transactions" in found.page.sections()


@pytest.mark.parametrize("table", ["io", "queries", "samples", "ops/users-4"])
def test_a_lost_table(tmp_path: Path, table: str) -> None:
    builder = quickstart(tmp_path)
    del builder.tables[table]
    found = judged(builder.write())
    assert report_of(found).page.sections()
    assert summary(found.bundle, found.estimates, found.findings)


@pytest.mark.parametrize("place", range(0, 22, 3))
def test_a_run_cut_off_anywhere(tmp_path: Path, place: int) -> None:
    builder = quickstart(tmp_path)
    builder.phases = builder.phases[:place]
    if builder.phases:
        last = builder.phases[-1]
        builder.phases[-1] = last.model_copy(update={"status": "running", "end_ns": None})
    end = builder.phases[-1].start_ns if builder.phases else data.START_NS
    for name, rows in builder.tables.items():
        builder.tables[name] = [row for row in rows if row["t_ns"] < end]
    found = judged(builder.write("running"))
    assert found.validity.valid is False
    assert report_of(found).page.sections()


def test_nothing_at_all(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run")
    builder.host = {}
    found = judged(builder.write("failed", error="No space left."))
    page = report_of(found).page
    assert "No space left." in page.root.all("div", class_="verdict")[0].text
    assert document(found.bundle, found.estimates, found.findings)["io"] is None


def test_a_bundle_that_was_never_judged(tmp_path: Path) -> None:
    found = judged(only_io(tmp_path).write())
    unjudged = type(found.bundle).open(found.bundle.path)
    from dyno.report import run_report

    html = run_report(unjudged, found.estimates, [])
    assert "? No verdict" in html
    assert summary(unjudged, found.estimates, [])[0].startswith("NO VERDICT")


def failing(path: Path) -> Builder:
    return Builder(path / "run").machine().power("duckdb", data.COLUMN_SECONDS, fails="q09")


def test_a_failed_query(tmp_path: Path) -> None:
    found = report_of(judged(failing(tmp_path).write()))
    row = found.page.table("Power test")[1]
    assert row == ["duckdb (column store)", "21", "–", "–", "–", "–", "1 failed"]
    assert "q09" not in found.page.table("Seconds by query")[1]


def summary_of(found: Report) -> list[str]:
    """The summary for a terminal."""
    return summary(found.judged.bundle, found.judged.estimates, found.judged.findings)


def rated(path: Path) -> Builder:
    loop = {"kind": "open", "rate_per_s": 2.5, "poisson": True}
    due = {"scheduled": 38, "late": 2}
    return Builder(path / "run").oltp(4, loop=loop, level="rate-2.5-users-4", outcome=due)


def same_users(path: Path) -> Builder:
    builder = rated(path)
    loop = {"kind": "open", "rate_per_s": 500, "poisson": True}
    return builder.oltp(4, loop=loop, level="rate-500-users-4")


@pytest.mark.parametrize(("build", "charts"), [(rated, 0), (same_users, 1)])
def test_levels_by_rate(tmp_path: Path, build: Callable[[Path], Builder], charts: int) -> None:
    found = report_of(judged(build(tmp_path).write()))
    rows = found.page.table("Load levels")[1:]
    assert rows[0][0] == "2.5/s over 4 users"
    # The schedule has a separate table: one table of both would not fit a page.
    assert not {"Sent late", "Driver CPU, %"} & set(found.page.table("Load levels")[0])
    heads, first, *_ = found.page.table("Schedule and driver")
    assert first[0] == "2.5/s over 4 users"
    assert {"Due", "Sent late", "Never sent", "Lag p99, ms", "Driver CPU, %"} <= set(heads)
    # A single level has no chart.
    assert len(found.page.section("transactions").all("svg", role="img")) == charts
    line = " ".join(summary_of(found))
    asked = "4 users at 2 rates unpaced: " if charts else "4 users at 2.5/s unpaced: "
    assert f"Transactions  {asked}" in line


def test_databases_that_were_not_driven_to_the_end_have_no_sum(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run")
    for number in (1, 2):
        builder.oltp(4, level=f"users-4-db-{number}", status="failed")
        builder.phases[-1].detail.update(database=number, part_of="users-4")
    found = report_of(judged(builder.write("failed")))
    lines = summary_of(found)
    assert any(line.startswith("Transactions  4/4 users") for line in lines)
    assert "4 users, database 2" in [row[0] for row in found.page.table("Load levels")]
    assert "Means by phase" not in found.html


def test_a_single_target_has_no_ratios(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").target("duckdb").power("duckdb", data.COLUMN_SECONDS)
    table = report_of(judged(builder.write())).page.table("Seconds by query")
    assert table[0][:2] == ["Query", "DuckDB, s"]
    assert "ratio" not in " ".join(table[0])


def test_a_disturbed_run_has_a_stamp_of_its_own(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    for row in builder.tables["samples"]:
        if row["metric"] == "steal":
            row["value"] = 12.0
    judgement = judged(builder.write())
    assert judgement.validity.verdict == "disturbed"
    verdict = report_of(judgement).page.root.all("div", class_="verdict")[0]
    assert "disturbed" in verdict.attributes["class"]
    assert "≈ Disturbed" in verdict.text
    assert "Do not compare or publish" in verdict.text
    found = judgement.bundle, judgement.estimates, judgement.findings
    assert summary(*found)[0].startswith("DISTURBED  quickstart ")
    written = document(*found)
    assert (written["valid"], written["verdict"]) == (False, "disturbed")
    assert {reason["kind"] for reason in written["reasons"]} == {"disturbed"}
    assert written["conclusion"].startswith("Disturbed: cpu-steal.")


def test_work_that_a_workload_schedules_itself(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").machine().oltp(4, outcome={"behind_ms": 0.0, "lost": 3})
    found = judged(builder.oltp(8).write())
    heads, first, other = report_of(found).page.table("Load levels")
    shown = [dict(zip(heads, row, strict=True)) for row in (first, other)]
    assert [(row["Behind, ms"], row["Lost"]) for row in shown] == [("0", "3"), ("–", "–")]
    known, unknown = document(found.bundle, found.estimates, found.findings)["tpcc"]["levels"]
    assert (known["behind_ms"], known["lost"]) == (0, 3)
    assert not {"behind_ms", "lost"} & set(unknown)
