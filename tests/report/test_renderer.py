"""Charts are drawn in a process that may crash: it costs the chart, never the page."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from markupsafe import Markup

from dyno.report.kit.charts import render, renderer
from dyno.report.kit.charts.render import Chart
from dyno.report.kit.charts.renderer import NoChart, Renderer
from tests.bundles import quickstart
from tests.judged import judged
from tests.report.conftest import report_of

pytestmark = pytest.mark.usefixtures("drawn")

SPEC = {"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a"}}}


def test_specifications_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are drawn without this check, which takes a quarter of their time."""
    checked: list[Any] = []

    def check(chart: Chart, *_: str) -> Markup:
        checked.append(chart.chart.to_dict(validate=True))
        return Markup("")

    monkeypatch.setattr(render, "_svg", check)
    report_of(judged(quickstart(tmp_path).write()))
    assert len(checked) > 10


def test_one_process_draws_all_charts() -> None:
    one = Renderer()
    assert "<svg" in one.svg(SPEC)
    first = one.pid
    assert "<svg" in one.svg(SPEC)
    assert first is not None
    assert one.pid == first
    one.close()
    assert one.pid is None
    assert not psutil.pid_exists(first)


def test_a_chart_that_is_refused_costs_itself_only() -> None:
    one = Renderer()
    for _ in range(5):
        with pytest.raises(NoChart, match="refused"):
            one.svg({"mark": 7, "data": 7})
    assert "<svg" in one.svg(SPEC)
    one.close()


def test_a_killed_renderer_is_replaced() -> None:
    one = Renderer()
    one.svg(SPEC)
    assert one.pid is not None
    os.kill(one.pid, signal.SIGKILL)
    with pytest.raises(NoChart, match="SIGKILL"):
        one.svg(SPEC)
    assert "<svg" in one.svg(SPEC)
    one.close()


def test_one_that_crashes_always_is_not_started_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "starts"
    crash = tmp_path / "crash.py"
    crash.write_text(f"import os; open({str(log)!r}, 'a').write('x'); os.abort()\n")
    monkeypatch.setattr(renderer, "SCRIPT", str(crash))
    one = Renderer()
    for _ in range(10):
        with pytest.raises(NoChart, match="SIGABRT"):
            one.svg(SPEC)
    assert log.read_text() == "x" * renderer.MOST_FAILURES


def test_one_that_never_ends_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = tmp_path / "stuck.py"
    stuck.write_text("import signal; signal.pause()\n")
    monkeypatch.setattr(renderer, "SCRIPT", str(stuck))
    monkeypatch.setattr(renderer, "LONGEST_S", 0.5)
    with pytest.raises(NoChart, match="SIGKILL"):
        Renderer().svg(SPEC)


@pytest.mark.long
def test_without_charts_the_report_has_all_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = judged(quickstart(tmp_path).write())
    whole = report_of(found)
    monkeypatch.setattr("dyno.report.kit.charts.render.RENDERER", Renderer())
    monkeypatch.setattr(renderer, "SCRIPT", "/nowhere")
    without = report_of(found)
    assert without.page.sections() == whole.page.sections()
    tags = [[one.tag for one in page.page.root.all()] for page in (whole, without)]
    assert tags[0].count("figure") == tags[1].count("figure") == without.html.count("no-chart")
    assert tags[0].count("td") == tags[1].count("td")
    assert "exit code" in without.html


@pytest.mark.long
def test_a_memory_limit_costs_the_charts_only(tmp_path: Path) -> None:
    """The renderer's engine reserves more than this and ends by a trap: the report went with it."""
    bundle = quickstart(tmp_path).write()
    limit = 3 << 30

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-m", "dyno", "report", str(bundle.path)],
        preexec_fn=limited,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    page = (bundle.path / "sheet.html").read_text(encoding="utf-8")
    assert "no-chart" in page
    assert page.rstrip().endswith("</html>")


@pytest.mark.long
def test_no_renderer_is_left_behind(tmp_path: Path) -> None:
    bundle = quickstart(tmp_path).write()
    subprocess.run(
        [sys.executable, "-m", "dyno", "report", str(bundle.path)],
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    script = renderer.SCRIPT
    for one in psutil.process_iter(["cmdline", "ppid"]):
        assert script not in (one.info["cmdline"] or []) or one.info["ppid"] != 1
