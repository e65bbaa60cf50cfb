"""Metrics of streams from bundles whose times are known, and their absence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.decide.judge import judge
from dyno.report import document, run_report, summary
from dyno.workloads.tpch.orders import order
from tests.bundles import Builder
from tests.judged import judged

SECOND = 1_000_000_000
SCALE = 2.0


def row(builder: Builder, at_s: float, seconds: float, **more: Any) -> dict[str, Any]:
    start = builder.now + round(at_s * SECOND)
    return {
        "t_ns": start,
        "end_ns": start + round(seconds * SECOND),
        "seconds": seconds,
        "target": "duckdb",
        "parameters": "{}",
        "rows": 1,
        "digest": "d",
        "error": None,
        "error_kind": None,
        **more,
    }


def power(builder: Builder, *, refresh: bool = True, fails: str | None = None) -> Builder:
    """RF1 of 4 s, 22 queries of 2 s each without a gap, RF2 of 1 s."""
    rows = builder.tables.setdefault("queries", [])
    if refresh:
        rows.append(row(builder, 0, 4, stream=-1, position=0, query="rf1"))
    for position, query in enumerate(order(0)):
        why = {"error": "x", "error_kind": "timeout"} if query == fails else {}
        at = 4 + 2 * position
        rows.append(row(builder, at, 2, stream=0, position=position, query=query, **why))
    if refresh:
        rows.append(row(builder, 48, 1, stream=-1, position=0, query="rf2"))
    detail = {"test": "power", "workload": "tpch", "scale": SCALE, "refresh": refresh}
    builder.phase("power-tpch-duckdb", "Power", "dss", 50, "duckdb", detail=detail)
    return builder


def throughput(
    builder: Builder,
    *,
    refresh: bool = True,
    fails: tuple[int, str] | None = None,
    **facts: int,
) -> Builder:
    """Two streams: of 1 s a query, and of 3 s; a pair of refreshes at the very end."""
    rows = builder.tables.setdefault("queries", [])
    for stream, each in ((1, 1.0), (2, 3.0)):
        for position, query in enumerate(order(stream)):
            why = {"error": "x", "error_kind": "out_of_memory"} if (stream, query) == fails else {}
            at = each * position
            rows.append(
                row(builder, at, each, stream=stream, position=position, query=query, **why)
            )
    if refresh:
        for pair, at in ((1, 10.0), (2, 64.0)):
            for function, later in (("rf1", 0.0), ("rf2", 2.0)):
                rows.append(row(builder, at + later, 2, stream=-1, position=pair, query=function))
    detail = {"test": "throughput", "workload": "tpch", "scale": SCALE, "refresh": refresh,
              "streams": 2, **facts}  # fmt: skip
    builder.phase("throughput-tpch-duckdb", "Throughput", "dss", 70, "duckdb", detail=detail)
    return builder


def start(path: Path) -> Builder:
    builder = Builder(path / "run", verb="run").machine().target("duckdb")
    builder.workloads = ["tpch"]
    return builder


def test_the_three_scores(tmp_path: Path) -> None:
    found = judged(throughput(power(start(tmp_path))).write())
    expected = 3600 * SCALE / (2.0**22 * 4.0 * 1.0) ** (1 / 24)
    assert found.value("dss.duckdb.power") == pytest.approx(expected)
    # From the first submission at 0 s to the last commit at 68 s: after the last query at 66 s.
    rate = 2 * 22 * 3600 * SCALE / 68
    assert found.value("dss.duckdb.throughput_total_s") == pytest.approx(68)
    assert found.value("dss.duckdb.throughput_mean_s") == pytest.approx(2)  # 1 s and 3 s
    assert found.value("dss.duckdb.throughput") == pytest.approx(rate)
    assert found.value("dss.duckdb.composite") == pytest.approx((expected * rate) ** 0.5)
    assert found.value("dss.duckdb.stream-1.total_s") == pytest.approx(22)
    assert found.value("dss.duckdb.stream-2.slowest_s") == pytest.approx(3)
    assert found.value("dss.duckdb.refresh-2.rf2_s") == pytest.approx(2)
    units = {item.name: item.unit for item in found.estimates}
    assert units["dss.duckdb.composite"] == "queries/h at SF 2"


def results(builder: Builder) -> tuple[dict[str, Any], str, str, list[str]]:
    """The engine's part of the JSON document, the report, the summary, the reasons."""
    found = judged(builder.write())
    validity, findings = judge(found.bundle, found.estimates)
    whole = document(found.bundle, found.estimates, findings)
    page = run_report(found.bundle, found.estimates, findings)
    lines = "\n".join(summary(found.bundle, found.estimates, findings))
    return (
        whole["tpch"]["engines"]["duckdb"], page, lines,
        [reason.message for reason in validity.reasons],
    )  # fmt: skip


def test_every_output_has_the_scores(tmp_path: Path) -> None:
    engine, page, lines, reasons = results(throughput(power(start(tmp_path))))
    assert not reasons
    assert engine["power"] and engine["throughput"] and engine["composite"]
    assert engine["figures_unit"] == "queries/h at SF 2"
    assert engine["figures_missing"] is None
    assert [stream["done"] for stream in engine["streams"]] == [22, 22]
    assert [query["query"] for query in engine["streams"][0]["queries"]] == list(order(1))
    assert len(engine["refresh"]) == 6
    assert "power " in lines and "composite " in lines and "queries/h" in lines
    assert "Streams on" in page and "Refresh functions" in page and "queries/h at SF 2" in page
    assert "not comparable with published TPC results" in page


def test_no_score_where_a_query_failed(tmp_path: Path) -> None:
    engine, page, lines, reasons = results(throughput(power(start(tmp_path)), fails=(2, "q05")))
    assert engine["power"] is not None
    assert engine["throughput"] is None and engine["composite"] is None
    assert engine["figures_missing"] == "no throughput and composite score: 1 query failed"
    assert engine["streams"][1]["failed"] == 1
    assert "1 query failed" in page
    assert any("1 query failed on duckdb" in reason for reason in reasons)
    assert "composite" not in lines.split("Reason")[0].split("Streams")[1].split("\n")[0]


def test_no_power_score_where_a_query_of_it_failed(tmp_path: Path) -> None:
    engine, *_ = results(throughput(power(start(tmp_path), fails="q09")))
    assert engine["power"] is None and engine["composite"] is None
    assert engine["throughput"] is not None


def test_without_refresh_there_is_a_rate_but_no_score(tmp_path: Path) -> None:
    engine, _page, lines, reasons = results(
        throughput(power(start(tmp_path), refresh=False), refresh=False)
    )
    assert not reasons
    assert engine["power"] is None and engine["throughput"] is None
    assert engine["throughput_without_refresh"] == pytest.approx(2 * 22 * 3600 * SCALE / 66)
    assert engine["refresh"] is None
    assert "the refresh functions did not run" in engine["figures_missing"]
    assert "without refresh" in lines


def test_a_stream_cut_short_makes_no_score(tmp_path: Path) -> None:
    builder = throughput(power(start(tmp_path)))
    builder.tables["queries"] = [
        item for item in builder.tables["queries"] if (item["stream"], item["query"]) != (1, "q05")
    ]
    engine, *_ = results(builder)
    assert engine["throughput"] is None
    assert "queries are missing" in engine["figures_missing"]


def test_a_plain_power_test_has_no_section_of_streams(tmp_path: Path) -> None:
    engine, page, lines, _ = results(power(start(tmp_path), refresh=False))
    assert engine["streams"] is None and engine["figures_missing"] is None
    assert engine["power_total_s"] == pytest.approx(44)
    assert "Streams" not in lines
    assert 'id="streams"' not in page


def apart(builder: Builder, fails: tuple[int, str] | None = None) -> Builder:
    """The two streams, each in a database of its own."""
    throughput(builder, refresh=False, fails=fails, databases=2, streams_each=1)
    for one in builder.tables["queries"]:
        one["database"] = one["stream"]
    return builder


def test_several_databases_are_told_apart_and_summed(tmp_path: Path) -> None:
    engine, page, lines, reasons = results(apart(start(tmp_path)))
    assert not reasons
    assert engine["throughput_without_refresh"] == pytest.approx(2 * 22 * 3600 * SCALE / 66)
    first, second = engine["databases"]
    assert (first["total_s"], second["total_s"]) == (22, 66)
    assert (first["done"], second["failed"]) == (22, 0)
    # Each counts its own time, so the fast one is faster than its share of the sum.
    assert first["throughput_without_refresh"] == pytest.approx(22 * 3600 * SCALE / 22)
    assert second["throughput_without_refresh"] == pytest.approx(22 * 3600 * SCALE / 66)
    assert [one["database"] for one in engine["streams"]] == [1, 2]
    assert "DB2 no. 2" in page and "Databases on DuckDB" in page
    assert "2 databases, 22" in lines


def test_a_database_whose_query_failed_has_no_rate(tmp_path: Path) -> None:
    engine, *_ = results(apart(start(tmp_path), fails=(2, "q05")))
    assert engine["throughput_without_refresh"] is None
    first, second = engine["databases"]
    assert first["throughput_without_refresh"] == pytest.approx(22 * 3600 * SCALE / 22)
    assert second["throughput_without_refresh"] is None
    assert (second["done"], second["failed"]) == (21, 1)
