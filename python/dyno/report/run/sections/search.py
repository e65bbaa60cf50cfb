"""The search for the maximum load within limits: its curve and its windows."""

from __future__ import annotations

from collections.abc import Callable

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.bundle.phases.search import SearchDetail, Window
from dyno.criteria import Criterion, asked, known
from dyno.report.kit.blocks import Block, Cell, Column, Figure, Key, Section, Table
from dyno.report.kit.charts import curve as charts
from dyno.report.kit.charts import theme
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import joined, rounded, seconds
from dyno.report.run import capacity
from dyno.report.run.page import Page

ORDER = 12

_MOST_PANELS = 4

OfLevel = Callable[[str], metrics.Key]
"""A metric of a level by its name."""
_STOPPED = {
    "resolution": "the gap reached the requested resolution",
    "most": "the largest allowed load passed",
    "least": "the smallest load failed",
    "time": "it reached its time limit",
}


def section(page: Page) -> Section | None:
    """The curve with the limits, and all windows in order."""
    search = page.search
    if search is None:
        return None
    windows = _windows(search)
    blocks: list[Block] = []
    made = _figure(page, search, windows)
    if made is not None:
        blocks.append(made)
    if windows:
        blocks.append(_table(page, search, windows))
    return Section("search", "Search for the maximum", blocks, _lead(page, search))


def _windows(search: Phase[SearchDetail]) -> list[Window]:
    return [window for window in search.detail.windows if window.load is not None]


def _lead(page: Page, search: Phase[SearchDetail]) -> str:
    limits = " and ".join(str(limit) for limit in asked(page.run, "slo"))
    words = [f"Limits: {limits}."] if limits else []
    if search.end_ns is not None:
        words.append(f"The search took {seconds(search.seconds)}.")
    stopped = _STOPPED.get(str(search.detail.stopped))
    if stopped:
        words.append(f"It ended because {stopped}.")
    if search.detail.monotone is False:
        words.append(
            "The curve is not monotone: a load above a failing one passed. The maximum is the "
            "largest load below which no load failed."
        )
    return " ".join(words)


def _verdict(window: Window) -> str:
    if window.steady is False:
        return charts.INCONCLUSIVE
    return charts.KEPT if window.passed is True else charts.BROKEN


def _points(
    page: Page, search: Phase[SearchDetail], windows: list[Window], metric: OfLevel, unit: str
) -> list[charts.Point]:
    """A point for each window whose level has the metric."""
    points: list[charts.Point] = []
    for window in windows:
        found = page.estimate(metric(str(window.level)))
        load, verdict = window.load, _verdict(window)
        if found is not None and load is not None and load > 0:
            at = capacity.load_text(search.detail, load)
            words = f"{at}: {rounded(found.value)} {unit}, {verdict}"
            points.append(charts.Point(load, found.value, verdict, words, found.low, found.high))
    return points


def _figure(page: Page, search: Phase[SearchDetail], windows: list[Window]) -> Figure | None:
    rates = _points(page, search, windows, lambda level: metrics.Level(level).tps, "/s")
    if not rates:
        return None
    panels = [charts.Panel("Transactions/s", rates)]
    for limit in asked(page.run, "slo")[:_MOST_PANELS]:
        panel = _limited(page, search, windows, limit)
        if panel is not None:
            panels.append(panel)
    best, by = search.detail.best, search.detail.by
    words = "" if best is None else f"maximum {capacity.load_text(search.detail, best)}"
    users = "Users in each database" if capacity.is_each(search.detail) else "Users"
    title = "Requested transactions/s" if by == "rate" else users
    alt = f"{len(panels)} panels over the load. Transactions a second: "
    alt += "; ".join(point.words for point in rates) + "."
    used = [
        Key(verdict, theme.KEYS[shape], theme.VARIABLES[colour])
        for verdict, (shape, colour) in charts.MARKS.items()
        if any(point.verdict == verdict for point in rates)
    ]
    return Figure(
        render(lambda width: charts.curve(panels, title, best, words, width), Size(985), alt),
        "Windows of the search by load (logarithmic). Dashed: limits; dotted: maximum. The line "
        "connects the means of each load. Error bars: 95 % interval of a window's mean throughput.",
        used,
        page.transaction_notice,
    )


def _limited(
    page: Page, search: Phase[SearchDetail], windows: list[Window], limit: Criterion
) -> charts.Panel | None:
    unit, factor = known(page.run)[limit.metric].units[limit.unit]
    points = _points(
        page, search, windows, lambda level: metrics.Criterion(level, limit).value, unit
    )
    if not points:
        return None
    title = f"{limit.metric} {limit.stat}" + (f", {unit}" if unit else "")
    return charts.Panel(title, points, limit.limit * factor, f"limit {limit}", unit == "ms")


def _table(page: Page, search: Phase[SearchDetail], windows: list[Window]) -> Table:
    columns = [
        Column("Window"),
        Column("Load", numeric=True),
        Column("Step"),
        Column("Transactions/s", numeric=True),
        Column(f"{page.transactions.title} p95, ms", numeric=True),
        Column("Result"),
        Column("Reason", wide=True),
    ]
    tones = {charts.KEPT: "good", charts.BROKEN: "bad", charts.INCONCLUSIVE: "muted"}
    rows: list[list[str | Cell]] = []
    for place, window in enumerate(windows, 1):
        at, verdict = metrics.Level(window.level), _verdict(window)
        words = window.words or ""
        if window.client_bound is True and "driver" not in words:
            words += "; the driver was the bottleneck"
        rows.append(
            [
                str(place),
                capacity.load_text(search.detail, window.load),
                window.step or "",
                rounded(page.value(at.tps)),
                rounded(page.value(at.operation(page.transactions.main).response("p95"))),
                Cell(joined(verdict), tones[verdict]),  # pyright: ignore[reportArgumentType]
                words,
            ]
        )
    return Table("Windows of the search", columns, rows, notice=page.transaction_notice)
