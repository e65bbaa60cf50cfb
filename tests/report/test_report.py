"""The structure of the page: what a reader finds, and where."""

from __future__ import annotations

import re
from pathlib import Path

from dyno import workloads
from dyno.decide.judge import definitions
from dyno.report.kit.charts import theme
from dyno.report.run.sections import criteria, headlines, machine, makers, search
from tests import bundle_data as data
from tests.bundles import quickstart
from tests.judged import judged
from tests.report.conftest import Report, report_of

SECTIONS = [
    *("headlines", "machine", "storage", "queries", "transactions", "latency", "meanwhile"),
    *("usage", "volumes", "loads"),
    *("checks", "settings", "method", "repeat"),
]


def test_the_verdict_comes_first_and_the_sections_follow(whole: Report) -> None:
    assert whole.page.sections() == SECTIONS
    # Streams, layouts, maintenance, plans, criteria, searches, recordings, caches on flash,
    # certificates, what databases report about themselves and their files, mixed load, freshness
    # and replays are parts of other runs.
    assert len(makers()) == len(SECTIONS) + 16
    verdict = whole.page.root.all("div", class_="verdict")[0]
    assert "good" in verdict.attributes["class"]
    assert "✓ Valid" in verdict.text
    assert "CPU for transactions (16 users)" in verdict.text
    assert whole.html.index('class="verdict') < whole.html.index("<main>")


def test_every_rule_of_the_judgement_is_explained(whole: Report) -> None:
    (method,) = whole.page.root.all("section", id="method")
    tables = method.all("details", class_="table")
    assert len(tables) == 2
    rows = [row for table in tables for row in table.all("tr") if row.all("td")]
    rules = definitions()
    assert {rule.about for rule in rules} == {"validity", "limit"}
    assert len(rows) == len(rules)
    for row, rule in zip(rows, rules, strict=True):
        cells = [cell.text.strip() for cell in (*row.all("th"), *row.all("td"))]
        assert cells[1:] == [rule.definition, rule.explanation]


def test_the_page_stands_alone(whole: Report) -> None:
    assert len(whole.html) < 1_000_000
    assert "<script" not in whole.html
    assert not whole.page.root.all("link")
    assert not whole.page.root.all("img")
    for element in whole.page.root.all():
        assert not {"src", "href", "srcset", "onclick", "onload"} & set(element.attributes) or (
            element.tag == "a" and element.attributes["href"].startswith("#")
        )
    assert "url(" not in whole.html
    assert "@import" not in whole.html
    policy = whole.page.root.all("meta", http_equiv="Content-Security-Policy")[0]
    assert policy.attributes["content"].startswith("default-src 'none'")


def test_it_is_semantic(whole: Report) -> None:
    root = whole.page.root
    assert root.all("html")[0].attributes["lang"] == "en"
    assert len(root.all("h1")) == 1
    assert len(root.all("main")) == 1
    assert all(
        row.all("th", scope="row")
        for row in root.all("tr")
        if row.parent and row.parent.tag == "tbody"
    )
    identifiers = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(identifiers) == len(set(identifiers))
    targets = {link.attributes["href"][1:] for link in root.all("nav")[0].all("a")}
    assert targets == set(SECTIONS)


def test_charts_have_two_widths_words_for_the_blind_and_tooltips(whole: Report) -> None:
    charts = whole.page.root.all("svg", role="img")
    assert len(charts) == 2 * 11
    for chart in charts:
        assert len(chart.attributes["aria-label"]) > 60
        assert set(chart.attributes["class"].split()) & {"wide", "narrow"}
    titles = {title.text for title in whole.page.root.all("title")}
    assert (
        "Random read, 8\N{NARROW NO-BREAK SPACE}KiB, queue depth 8: 55,600 IOPS, p95 0.247 ms"
        in titles
    )
    assert "Q17 on DuckDB: 0.031 s" in titles
    assert "16 users: New-Order p95 21.9 ms" in titles
    assert "TPC-C-derived, 4 users: 21.2\N{NARROW NO-BREAK SPACE}s" in titles


def test_chart_colours_follow_the_scheme(whole: Report) -> None:
    drawn = "".join(re.findall(r"<svg class=\"chart.*?</svg>", whole.html, re.S))
    for value in re.findall(r'(?:fill|stroke)="([^"]+)"', drawn):
        assert value in ("none", "transparent") or value.startswith("var(--"), value
    style = whole.page.root.all("style")[0].text
    for variable in theme.VARIABLES.values():
        assert style.count(f"{variable}:") == 2, variable


def test_headlines(whole: Report) -> None:
    cards = whole.page.section("headlines").all("li")
    texts = [" ".join(card.text.split()) for card in cards]
    for words in (
        *("Sequential read 1,585 MB/s", "Random read 85,300 IOPS", "PostgreSQL, 22 queries 18.9 s"),
        *("DuckDB against PostgreSQL 15.2 × faster", "Transactions 1,686 /s with 16 users"),
        *("Answers equal 22 of 22", "Consistency pass 11 of 11"),
    ):
        assert any(words in text for text in texts), words


def test_every_query_with_its_ratio(whole: Report) -> None:
    table = whole.page.table("Seconds by query")
    assert table[0][:4] == ["Query", "PostgreSQL, s", "DuckDB, s", "PostgreSQL / DuckDB"]
    assert len(table) == 23
    assert table[1][:5] == ["Q1", "1.940", "0.051", "38.0 ×", "equal"]
    assert table[17][3] == "0.194 × slower"
    assert "DuckDB was slower in Q17." in whole.page.section("queries").text


def test_every_transaction_with_both_latencies(whole: Report) -> None:
    for users in data.LEVELS:
        title = f"By transaction, {users} user{'s' if users > 1 else ''}"
        table = whole.page.table(title)
        names = ("New-Order", "Payment", "Order-Status", "Delivery", "Stock-Level")
        assert [row[0] for row in table[1:]] == [name for name in names for _ in range(2)]
        assert [row[4] for row in table[1:]] == ["response", "service"] * 5
        assert table[0][5:] == ["p50, ms", "p90, ms", "p95, ms", "p99, ms", "p99.9, ms", "max, ms"]
    levels = whole.page.table("Load levels")
    assert [row[0] for row in levels[1:]] == ["1 user", "4 users", "16 users"]
    assert levels[3][1:5] == ["1,686", "43,572", "67,764, unpaced", "21.9"]


def test_other_tables(whole: Report) -> None:
    assert len(whole.page.table("All points: latencies, ms")) == 1 + 3 + 3 + 9 + 9
    assert [row[0] for row in whole.page.table("Load speed")[1:]] == [
        *("tpch 1 → PostgreSQL", "tpch 1 → DuckDB", "tpcc 5 → PostgreSQL")
    ]
    assert ["condition 11", "PostgreSQL", "skipped"] == whole.page.table("Failed or skipped")[1][:3]
    assert len(whole.page.table("Bottlenecks")) == 12
    files = {row[0] for row in whole.page.table("Bundle files")[1:]}
    assert {"run.json", "events.jsonl", "io.parquet", "ops/users-4.parquet"} <= files
    assert "dyno quickstart --scale 1" in whole.page.section("repeat").all("pre")[0].text


def test_each_notice_stands_once_in_a_section_with_derived_values_and_at_the_foot(
    whole: Report,
) -> None:
    both = {"tpch", "tpcc"}
    derived = {
        **{"headlines": both, "loads": both},
        **{"queries": {"tpch"}, "transactions": {"tpcc"}, "meanwhile": {"tpcc"}},
        "latency": {"tpcc"},
    }
    parts = {ident: whole.page.section(ident).text for ident in SECTIONS}
    parts["foot"] = whole.page.root.all("footer")[0].text
    derived["foot"] = both
    for ident, text in parts.items():
        for workload in both:
            notice = workloads.get(workload).notice
            assert text.count(notice) == (workload in derived.get(ident, ())), (ident, workload)


def test_the_summary_is_first_and_what_is_looked_up_is_folded(
    whole: Report, tmp_path: Path
) -> None:
    assert whole.page.sections()[0] == "headlines"
    assert whole.page.section("headlines").all("h2")[0].text == "Summary"
    orders = {module.ORDER for module in (criteria, machine, search)}
    assert headlines.ORDER < min(orders)
    folded = {
        ident for ident in SECTIONS if whole.page.section(ident).all("details", class_="part")
    }
    assert folded == {"loads", "checks", "settings", "method"}
    failed = report_of(judged(quickstart(tmp_path).consistency(broken=3).write()))
    assert not failed.page.section("checks").all("details", class_="part")


def test_what_is_long_stays_folded_on_paper(whole: Report) -> None:
    tables = whole.page.root.all("details", class_="table")
    rows = {table.all("summary")[0].text: len(table.all("tr")) - 1 for table in tables}
    long = {item.all("summary")[0].text for item in tables if item.has({"class_": "long"})}
    assert long == {caption for caption, count in rows.items() if count > 12}
    assert "All points: rates" in long
    assert "By transaction, 1 user" in rows.keys() - long


def test_warnings_about_the_machine(whole: Report) -> None:
    verdict = whole.page.root.all("div", class_="verdict")[0]
    assert "2 warnings" in verdict.text
    assert "50s or more" in verdict.text
    notes = whole.page.section("machine").all("li")
    assert [note.attributes["class"] for note in notes] == ["bad", "muted", "muted"]
    assert "Example 9000" in whole.page.section("machine").text
