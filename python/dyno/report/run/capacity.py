"""The maximum load within limits, as text and cards."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.phases.search import SearchDetail
from dyno.report.kit.blocks import Card, Cards
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page


def load_text(detail: SearchDetail, load: float | None) -> str:
    """``12 users``, ``12 users each`` of several databases, ``150/s``; ``–`` for none.

    ``detail`` is that of the search.
    """
    if load is None:
        return "–"
    if detail.by == "rate":
        return f"{rounded(load)}/s"
    each = " each" if is_each(detail) else ""
    return f"{load:g} user{'' if load == 1 else 's'}{each}"


def is_each(detail: SearchDetail) -> bool:
    """Whether users are counted per database."""
    return (detail.databases or 1) > 1


def line(page: Page) -> str:
    """One line for a terminal."""
    if page.search is None:
        return ""
    detail = page.search.detail
    best = detail.best
    if best is None:
        broken = detail.failing is not None
        return f"none found; {_above(page)}" if broken else "none found"
    words = [load_text(detail, best), "confirmed" if detail.confirmed else "NOT confirmed"]
    words += [f"{rounded(page.value(metrics.Capacity().tps))} /s"]
    return f"{', '.join(words)}; {_above(page)}"


def _above(page: Page) -> str:
    assert page.search is not None  # noqa: S101  (asked by those who have one)
    detail = page.search.detail
    failing = detail.failing
    if failing is None:
        return "no load failed"
    load = load_text(detail, failing)
    fails = "fails" if load.endswith(" user") else "fail"
    what = "inconclusive" if detail.unsettled is True else fails
    return f"{load} {what}"


def cards(page: Page) -> Cards | None:
    """The maximum with its bounds, and the metrics there with their range over the windows."""
    if page.search is None:
        return None
    detail = page.search.detail
    by, best = detail.by, detail.best
    unit = "/s" if by == "rate" else "users each" if is_each(detail) else "users"
    label = "Maximum rate" if by == "rate" else "Maximum users"
    how = "confirmed by a second window" if detail.confirmed else "not confirmed"
    found = [
        Card(
            label,
            rounded(best),
            unit if best is not None else "",
            f"{how}; {_above(page)}" if best is not None else _above(page),
        )
    ]
    at, main = metrics.Capacity(), page.transactions
    for key, title, its_unit in (
        (at.tps, "Transactions", "/s"),
        (at.operation(main.main).response("p95"), f"{main.title} p95", "ms"),
    ):
        item = page.estimate(key)
        if item is not None:
            span = f"windows: {rounded(item.low)} to {rounded(item.high)}"
            found.append(Card(f"{title} at maximum", rounded(item.value), its_unit, span))
    return Cards("Maximum load within limits", found, page.transaction_notice)
