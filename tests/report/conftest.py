from __future__ import annotations

from dataclasses import dataclass

import pytest

from dyno.decide.judge import definitions
from dyno.report import run_report
from dyno.report.kit.charts import renderer
from dyno.report.kit.charts.render import WIDE, Size
from tests.bundles import quickstart
from tests.judged import Judged, judged
from tests.report.html import Page


@dataclass(frozen=True)
class Report:
    """A judged bundle with its page."""

    judged: Judged
    html: str
    page: Page


def report_of(found: Judged) -> Report:
    html = run_report(found.bundle, found.estimates, found.findings, definitions())
    return Report(found, html, Page(html))


@pytest.fixture
def drawn() -> None:
    """Asks for charts as the renderer draws them."""


@pytest.fixture(autouse=True)
def blank_charts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws each chart once and blank, unless a test looks at it: charts take most of the time."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(renderer.Renderer, "svg", _blank)
        monkeypatch.setattr(Size, "variants", lambda size: [(WIDE, size.wide)])


def _blank(*_: object) -> str:
    return "<svg xmlns='http://www.w3.org/2000/svg'/>"


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report_of(judged(quickstart(tmp_path_factory.mktemp("whole")).write()))
