"""Criteria and the search for the maximum in the report, the summary and the document."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.report import document, latencies, summary
from tests.bundles import Builder
from tests.judged import judged
from tests.report.conftest import report_of
from tests.searched import TRIED, searched


@pytest.mark.usefixtures("drawn")
def test_the_search_in_the_report(tmp_path: Path) -> None:
    found = report_of(judged(searched(tmp_path).write()))
    headlines = found.page.section("headlines").text
    assert "Maximum users" in headlines and "11 users fail" in headlines
    assert "confirmed by a second window" in headlines
    section = found.page.section("search")
    rows = found.page.table("Windows of the search")
    assert [row[1].split()[0] for row in rows[1:]] == [str(users) for users in TRIED]
    assert rows[-1][2] == "confirm"
    figure = section.all("figure")[0]
    # A panel for the throughput and one for each limit, a mark for each window, wide and narrow.
    titles = [item.text for item in figure.all("title")]
    assert sum(", fail" in title for title in titles) == 2 * 3 * 2
    assert sum(", pass" in title for title in titles) == 2 * 3 * 7
    assert "limit new_order p95 &lt; 15 ms" in found.html
    assert "maximum 10 users" in figure.text
    assert found.page.table("Limits by level")[0][:3] == ["Level", "Criterion", "Result"]


def test_the_search_in_the_summary_and_the_document(tmp_path: Path) -> None:
    found = judged(searched(tmp_path).write())
    lines = summary(found.bundle, found.estimates, found.findings)
    assert all(len(line) <= 80 for line in lines)
    (line,) = [line for line in lines if line.startswith("Maximum")]
    assert "10 users, confirmed" in line and "11 users fail" in line
    assert any(line.startswith("Criteria") and "4 passed" in line for line in lines)
    made = document(found.bundle, found.estimates, found.findings)
    assert made["capacity"]["best"] == 10
    assert made["capacity"]["failing"] == 11
    assert made["capacity"]["tps"]["low"] <= made["capacity"]["tps"]["mean"]
    assert len(made["capacity"]["windows"]) == len(TRIED)
    assert {item["criterion"] for item in made["criteria"]} == {
        "new_order p95 < 15 ms",
        "errors total = 0",
    }


def test_a_search_that_found_nothing(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    builder.plan = {"slo": [{"text": "new_order p95 < 1 ms", "source": "asked for"}]}
    builder.oltp(1)
    window = {"level": "users-1", "load": 1.0, "step": "grow", "passed": False, "steady": True,
              "client_bound": False, "words": "new_order 5.8 ms", "refused": False}  # fmt: skip
    detail = {"by": "users", "windows": [window], "best": None, "failing": 1.0, "confirmed": False,
              "monotone": True, "stopped": "least", "counted": ["users-1"],
              "bounding": ["users-1"], "refused": []}  # fmt: skip
    builder.phase("search-tpcc-postgresql", "Search", "search", 0.0, "postgresql", detail=detail)
    found = judged(builder.write())
    assert found.validity.valid is True
    lines = summary(found.bundle, found.estimates, found.findings)
    assert any("none found; 1 user fail" in line for line in lines)
    assert any("1 FAILED (new_order p95 < 1 ms)" in line for line in lines)
    assert "smallest load failed" in report_of(found).page.section("search").text


def test_a_damaged_search_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    builder = searched(tmp_path)
    builder.phases[-1].detail.update(windows=[5, {"load": "x"}], best="many", counted=7)
    found = judged(builder.write())
    assert report_of(found).page.sections()
    assert summary(found.bundle, found.estimates, found.findings)
    assert document(found.bundle, found.estimates, found.findings)["capacity"]


def test_a_broken_criterion_in_the_report(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    builder.plan = {"criteria": [{"text": text, "source": "asked for"} for text in
                                 ("cpu < 70 %", "log_write < 5 ms", "errors = 0")]}  # fmt: skip
    found = report_of(judged(builder.oltp(4).write()))
    rows = found.page.table("Limits by level")[1:]
    assert [row[2] for row in rows] == ["fail", "not evaluated", "pass"]
    assert "log is unknown" in rows[1][-1]
    assert "UTC" in rows[0][5]


def test_default_limits_are_marked(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    builder.plan = {"criteria": [{"text": "new_order p95 < 50 ms", "source": "asked for"},
                                 {"text": "cpu < 80 %", "source": "a paper"}]}  # fmt: skip
    found = report_of(judged(builder.oltp(16).write()))
    table = found.page.table("Limits by level")
    assert table[0][1:4] == ["Criterion", "Kind", "Result"]
    assert [row[2:4] for row in table[1:]] == [["requested", "pass"], ["default", "fail"]]
    assert "only requested criteria" in found.page.section("criteria").text
    one = found.judged
    lines = summary(one.bundle, one.estimates, one.findings)
    words = "Criteria      1 passed; default limits: 1 failed (cpu mean < 80 %)"
    assert words in lines
    assert not any("Default limits" in line for line in lines)
    assert any(line.startswith("Bottleneck    CPU") for line in lines)
    made = document(one.bundle, one.estimates, one.findings)
    assert [item["binding"] for item in made["criteria"]] == [True, False]


def test_times_by_transaction_on_a_terminal(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    found = judged(builder.oltp(4).oltp(16).write())
    lines = latencies(found.bundle, found.estimates, found.findings)
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].split() == [
        *("Milliseconds,", "16", "users", "p50", "p90", "p95", "p99", "p99.9", "max")
    ]
    first, second = lines[1].split(), lines[2].split()
    assert first[:2] == ["New-Order", "response"]
    assert (second[0], len(second)) == ("service", 7)
    p50, p90, p95, p99, p999, most = map(float, first[2:])
    assert p50 <= p90 <= p95 <= p99 <= p999 <= most
    assert p50 == pytest.approx(found.value("oltp.users-16.new_order.response_p50_ms"), rel=0.005)
    assert len(lines) == 1 + 2 * 5
    made = document(found.bundle, found.estimates, found.findings)["tpcc"]["levels"][1]
    service = made["operations"]["payment"]["service_ms"]
    assert set(service) == {"p50", "p90", "p95", "p99", "p999", "max", "mean"}
    low, high = made["tps_interval"]
    assert low < made["tps"] < high


def test_long_names_of_transactions_stay_whole(tmp_path: Path) -> None:
    long = "select_from_orders_with_lines_and_customers_of_a_region"
    named = {"new_order": "customer_position", "payment": long}
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql").oltp(4)
    rows = builder.tables["ops/users-4"]
    for row in rows:
        row["op"] = named.get(row["op"], row["op"])
    found = judged(builder.write())
    lines = latencies(found.bundle, found.estimates, found.findings)
    assert all(len(line) <= 80 for line in lines)
    (beside,) = (line for line in lines if line.startswith("Customer-Position"))
    assert beside.split()[1] == "response"
    at = lines.index("Select-From-Orders-With-Lines-And-Customers-Of-A-Region")
    assert lines[at + 1].split()[0] == "response"
    assert len({len(line) for line in lines if "response" in line or "service" in line}) == 1


def test_a_search_shows_its_times_and_the_interval_of_each_window(tmp_path: Path) -> None:
    found = judged(searched(tmp_path).write())
    lines = latencies(found.bundle, found.estimates, found.findings)
    assert lines[0].startswith("Milliseconds, 10 users")
    windows = document(found.bundle, found.estimates, found.findings)["capacity"]["windows"]
    assert len(windows) == len(TRIED)
    for window in windows:
        low, high = window["tps_interval"]
        assert low < window["tps"] < high
        assert window["p95_ms"] > 0
