"""How fresh the data of queries was beside transactions: the targets, and a line of the summary."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page


def targets(page: Page) -> list[str]:
    """The targets whose queries ran while transactions changed their data."""
    return page.known.between("dss.", metrics.Queries.freshness_ms)


def line(page: Page) -> str:
    """Freshness of each target; empty without transactions."""
    words: list[str] = []
    for target in targets(page):
        at = metrics.Queries(target)
        behind = page.value(at.freshness_ms)
        text = (
            f"{page.title(target)} no committed transaction missed"
            if not behind
            else f"{page.title(target)} up to {rounded(behind)} ms behind"
        )
        words.append(f"{text}, newest {rounded(page.value(at.newest_age_ms))} ms old")
    return "; ".join(words)
