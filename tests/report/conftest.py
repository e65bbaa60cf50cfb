from __future__ import annotations

from dataclasses import dataclass

import pytest

from dyno.decide import definitions
from dyno.report import sheet
from tests.bundles import quickstart
from tests.judged import Judged, judged
from tests.report.html import Page


@dataclass(frozen=True)
class Sheet:
    """A judged bundle with its page."""

    judged: Judged
    html: str
    page: Page


def sheet_of(found: Judged) -> Sheet:
    html = sheet(found.bundle, found.estimates, found.findings, definitions())
    return Sheet(found, html, Page(html))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Sheet:
    return sheet_of(judged(quickstart(tmp_path_factory.mktemp("whole")).write()))
