from __future__ import annotations

from dataclasses import dataclass

import pytest

from dyno.decide import definitions
from dyno.report import run_report
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


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return report_of(judged(quickstart(tmp_path_factory.mktemp("whole")).write()))
