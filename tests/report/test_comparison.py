"""The page of two runs side by side."""

from __future__ import annotations

from pathlib import Path

from dyno.report.comparison.page import comparison_page
from dyno.report.comparison.side_by_side import pairs
from tests import bundle_data as data
from tests.bundles import Builder
from tests.judged import Judged, judged
from tests.process import dyno
from tests.report.html import Page
from tests.report.test_hostile import EVIL, spoiled


def page(first: Judged, second: Judged) -> str:
    found = pairs((first.bundle, first.estimates), (second.bundle, second.estimates))
    return comparison_page(first.bundle, second.bundle, found)


def run(path: Path, factor: float = 1.0) -> Builder:
    """Queries that take ``factor`` as long, and a level of transactions."""
    builder = Builder(path / "run").machine().target("postgresql")
    seconds = tuple(factor * value for value in data.ROW_SECONDS)
    return builder.power("postgresql", seconds).oltp(4)


def test_both_runs_are_told_apart(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a"), run(tmp_path / "b", 0.5)
    second.plan["scale"] = 7
    shown = Page(page(judged(first.write()), judged(second.write())))
    rows = {row[0]: row[1:] for row in shown.table("Seconds by query on PostgreSQL")}
    assert rows["Q1"][2:] == ["-50.0 %", "0.500×"]
    assert ["scale", "–", "7"] in shown.table("Plan, settings and machine")
    metrics = {(row[0], row[1]): row[2:] for row in shown.table("Both runs")[1:]}
    assert any(metric == "Transactions, 1/s" for _, metric in metrics)
    phases = [row[1] for row in shown.table("Means by phase")]
    assert "CPU busy, %" in phases
    assert "Derived from TPC-H" in shown.section("queries").text
    assert "Derived from TPC-C" in shown.section("transactions").text


def test_the_text_of_bundles_is_escaped(tmp_path: Path) -> None:
    sides = [judged(spoiled(tmp_path / name).write()) for name in ("a", "b")]
    html = page(*sides)
    shown = Page(html)
    assert EVIL not in html
    assert not shown.root.all("script")
    assert not shown.root.all("img")


def test_the_command_writes_it(tmp_path: Path) -> None:
    paths = [run(tmp_path / name).write().path for name in ("a", "b")]
    target = tmp_path / "page.html"
    done = dyno("compare", *paths, "--page", target, "--out", tmp_path)
    assert done.returncode in {0, 1}, done.stderr
    assert Page(target.read_text()).table("Both runs")
