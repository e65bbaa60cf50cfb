"""What databases report about themselves, on the page: waits, engine metrics, statements, reads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import TargetFacts
from tests.bundles import Builder, quickstart
from tests.judged import judged
from tests.report.conftest import Report, report_of

PHASE = "resource.oltp-tpcc-postgresql-users-16"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Report:
    builder = quickstart(tmp_path_factory.mktemp("inside"))
    facts = builder.targets["postgresql"]
    note = "top statements are unknown: CREATE EXTENSION pg_stat_statements;"
    builder.targets["postgresql"] = facts.model_copy(update={"inside_notes": (note,)})
    return report_of(judged(builder.inside().write()))


def rows(found: Report, caption: str) -> list[dict[str, str]]:
    head, *body = found.page.table(caption)
    return [dict(zip(head, row, strict=True)) for row in body]


def test_active_sessions_are_summed_by_class(found: Report) -> None:
    *_, last = rows(found, "Active sessions by phase")
    assert last["Phase"] == "TPC-C-derived, 16 users"
    at = f"{PHASE}.sessions.postgresql"
    events = ("cpu/running", "log/WALSync", "data/DataFileRead", "lock/transactionid")
    values = [found.judged.value(f"{at}.{event}.mean") for event in events]
    shown = [float(last[name]) for name in ("CPU", "Log I/O", "Data I/O", "Locks")]
    assert shown == pytest.approx(values, rel=0.01)
    assert float(last["Active sessions"]) == pytest.approx(sum(values), rel=0.01)
    share = 100 * values[1] / sum(values)
    assert last["Most frequent waits"].startswith(f"WALSync {share:.0f} %, DataFileRead")
    assert values[3] == pytest.approx(0.9 / 3, rel=0.1)  # seen every third second
    assert "Temporary files" not in last  # which no session waited for


def test_the_areas_stack_up_to_all_sessions(found: Report) -> None:
    section = found.page.section("inside")
    charts = [
        one for one in section.all("svg", role="img") if "active" in one.attributes["aria-label"]
    ]
    assert len(charts) == 2
    keys = [item.text.strip() for item in section.all("ul", class_="keys")[0].all("li")]
    assert keys == ["CPU", "data I/O", "log I/O", "locks"]
    filled = [
        path
        for path in charts[0].all("path")
        if path.attributes.get("fill", "").startswith("var(--c-")
    ]
    assert len(filled) == len(keys)


def test_engine_metrics_are_their_weighted_means(found: Report) -> None:
    *_, last = rows(found, "Engine metrics by phase")
    at = f"{PHASE}.database.postgresql"
    assert float(last["Hit ratio, %"]) == pytest.approx(
        found.judged.value(f"{at}.hit_ratio.mean"), rel=0.01
    )
    assert float(last["Log flush, ms"]) == pytest.approx(2.4, rel=0.1)
    assert last["Temp. file"].endswith("MiB")
    assert "CREATE EXTENSION pg_stat_statements;" in found.page.section("inside").text


def test_statements_are_ordered_by_time_reads_and_temporary_data(found: Report) -> None:
    times, reads, temp = (
        rows(found, f"Statements by {what}") for what in ("time", "logical reads", "temporary data")
    )
    assert [row["Share, %"] for row in times] == ["50.0", "33.3", "16.7"]
    first = times[0]
    # Three levels with 60,000 calls in 21 s each.
    assert (first["Calls"], first["Total, s"], first["Mean, ms"]) == ("180,000", "63", "0.350")
    assert first["Min. to max., ms"] == "0.050 to 48"
    assert times[2]["Min. to max., ms"] == "–"
    assert reads[0]["Statement"] == "SELECT count(DISTINCT s_i_id) FROM order_line, stock"
    assert len(temp) == 1
    assert "Aggregate" in found.page.section("statements").text


def test_the_table_with_most_reads_is_named_with_its_share(found: Report) -> None:
    section = found.page.section("relations")
    assert (
        "tpcc.stock with its indexes has 70 % of the physical reads of PostgreSQL." in section.text
    )
    stock, lines = found.page.table("Tables with their indexes")[1:]
    # 21,000 and 9,000 in each of three levels; the partitions of a table are one.
    assert stock[:4] == ["tpcc.stock", "table", "63,000", "70.0"]
    assert lines[:4] == ["tpcc.order_line", "table", "27,000", "30.0"]
    listed = [row[0] for row in found.page.table("Tables and indexes")[1:]]
    assert listed == ["tpcc.stock", "tpcc.order_line_1", "tpcc.order_line_2", "tpcc.stock_pkey"]


def test_without_any_of_it_there_are_no_sections(whole: Report) -> None:
    assert not {"inside", "statements", "relations"} & set(whole.page.sections())


def test_odd_rows_are_shown_as_far_as_they_go(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    script = "<script>alert(1)</script>"
    odd: list[dict[str, Any]] = [
        {"target": "postgresql", "statement": script, "calls": 0, "total_ms": 5.0, "plan": script},
        {"target": "gone", "statement": "1", "text": script, "total_ms": None, "logical_reads": 7},
        {"target": None, "statement": "2"},
    ]
    builder.tables["statements"] = [{"t_ns": 1, "end_ns": 2, **row} for row in odd]
    builder.tables["relations"] = [
        {"target": "postgresql", "relation": script, "kind": None, "logical_reads": 3},
        {"target": "gone", "relation": "x", "kind": "table", "writes": 4},
    ]
    builder.tables["samples"] += [
        {"t_ns": row["t_ns"], "source": "sessions", "subject": "postgresql", "value": 1.0,
         "metric": f"{script}/{script}", "unit": ""}
        for row in builder.tables["samples"][::40]
    ]  # fmt: skip
    page = report_of(judged(builder.write())).page
    assert not page.root.all("script")
    section = page.section("statements")
    assert script in section.text
    plans = [text for one in section.all("details") for text in one.all("pre")]
    assert [one.text.strip() for one in plans] == [script]
    assert script in page.section("relations").text
    assert script in page.section("inside").text


@pytest.mark.usefixtures("drawn")
def test_the_devices_of_the_database_are_drawn_and_not_that_of_the_output(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine()
    facts = {"url": "postgresql://b@/x", "version": "PostgreSQL 16.4", "place": "machine",
             "devices": {"data": ("vdb",), "log": ("vdc",)}}  # fmt: skip
    builder.targets["postgresql"] = TargetFacts.model_validate(facts)
    builder.oltp(4)
    builder.tables["samples"] += [
        {**row, "subject": name}
        for row in builder.tables["samples"] if row["source"] == "disk" for name in ("vdb", "vdc")
    ]  # fmt: skip
    section = report_of(judged(builder.write())).page.section("volumes")
    figure = section.all("figure")[0]
    titles = [text.text for text in figure.all("svg", class_="wide")[0].all("text")]
    named = [title for title in titles if re.match(r"vd[a-z], ", title)]
    assert named == [
        f"{name}, {what}"
        for name in ("vdb", "vdc")
        for what in ("latency, ms", "IOPS", "MB/s", "queue")
    ]
    assert "vdb (data), vdc (log): latency" in figure.text
