"""Response times over time, and their distributions."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.bundle.histograms import Spread
from dyno.report.kit.blocks import Block, Figure, Row, Section
from dyno.report.kit.charts import multiples, percentiles, theme
from dyno.report.kit.charts.keys import keys
from dyno.report.kit.charts.render import Size, render
from dyno.report.kit.formats import operation_title, users_title
from dyno.report.run import courses
from dyno.report.run.distributions import Distribution, distributions
from dyno.report.run.page import Level, Page

ORDER = 52

_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_QUANTILE_COLOURS = {"p50": theme.INK, "p95": theme.INK, "p99": theme.MUTED}
_STEPS = 24
"""Points of a distribution in each decade of 1/(1-q)."""
_MOST_SERIES = len(theme.SERIES)


def section(page: Page) -> Section | None:
    """Percentiles over time, p95 by operation over time, and percentile plots."""
    levels = [level for level in page.levels if not level.is_part]
    found = distributions(page, levels)
    levels = [level for level in levels if level.name in found]
    if not levels:
        return None
    operations = _operations(levels, found)
    blocks: list[Block] = [
        figure for figure in (_over_time(page, levels, found, operations),) if figure is not None
    ]
    best = page.best_level
    if best is None or best.name not in found:
        best = levels[-1]
    every = [_by_operation(page, best, found[best.name], operations)]
    if len(levels) > 1:
        every.append(_by_level(page, levels, found))
    plots = [plot for plot in every if plot is not None]
    if plots:
        blocks.append(Row(plots, even=True))
    if not blocks:
        return None
    lead = "Response time: from the intended start to the end. Load levels exclude the warm-up."
    return Section("latency", "Latency", blocks, lead)


def _operations(levels: list[Level], found: dict[str, Distribution]) -> list[str]:
    """The operations of all levels, those with most completions first."""
    operations = list(
        dict.fromkeys(name for level in levels for name in found[level.name].operations)
    )
    operations.sort(
        key=lambda name: (
            -sum(
                spread.count
                for level in levels
                if (spread := found[level.name].operations.get(name)) is not None
            )
        )
    )
    return operations


def _over_time(
    page: Page, levels: list[Level], found: dict[str, Distribution], operations: list[str]
) -> Figure | None:
    shown = operations[:_MOST_SERIES]
    all_points: list[multiples.Point] = []
    each: list[multiples.Point] = []
    for level in levels:
        intervals = found[level.name].intervals
        for name, quantile in _QUANTILES.items():
            all_points += [
                multiples.Point(name, second, whole.quantile_ms(quantile))
                for second, whole, _ in intervals
            ]
            all_points += _gap(intervals, name)
        for operation in shown:
            title = operation_title(operation)
            each += [
                multiples.Point(title, second, parts[operation].quantile_ms(0.95))
                for second, _, parts in intervals
                if operation in parts
            ]
            each += _gap(intervals, title)
    if not all_points:
        return None
    titles = [operation_title(operation) for operation in shown]
    colours = {**_QUANTILE_COLOURS, **dict(zip(titles, theme.SERIES, strict=False))}
    panels = [
        multiples.Panel("All, ms: p50, p95 (dashed), p99 (dotted)", all_points),
        multiples.Panel("p95 by transaction, ms", each),
    ]
    left = _left(len(operations) - len(shown))
    span = courses.extent(all_points)
    alt = "Response time percentiles over time; the tables by transaction have those of each level."
    return Figure(
        render(
            lambda width: multiples.multiples(panels, colours, span, 1, width, height=132),
            Size(985),
            alt,
        ),
        f"Response time over time: percentiles of all transactions, and p95 by transaction.{left}",
        keys(titles, shapes=False),
        page.transaction_notice,
    )


def _left(count: int) -> str:
    return f" {count} rarer transaction{'s are' if count > 1 else ' is'} not drawn." * (count > 0)


def _gap(
    intervals: list[tuple[float, Spread, dict[str, Spread]]], name: str
) -> list[multiples.Point]:
    """Breaks the line between two levels."""
    return [multiples.Point(name, intervals[-1][0] + 1e-3, None)] if intervals else []


def _by_operation(
    page: Page, level: Level, found: Distribution, operations: list[str]
) -> Figure | None:
    own = found.operations
    # Those of the chart over time, in the same colours.
    shown = operations[:_MOST_SERIES]
    spreads = {operation_title(name): own[name] for name in shown if name in own}
    title = users_title(level.phase.detail if level.phase else None, level.name)
    caption = f"Response time percentiles by transaction, {title}."
    return _plot(page, spreads, caption + _left(len(operations) - len(shown)))


def _by_level(page: Page, levels: list[Level], found: dict[str, Distribution]) -> Figure | None:
    spreads = {
        users_title(level.phase.detail if level.phase else None, level.name): whole
        for level in levels
        if (whole := found[level.name].whole) is not None
    }
    return _plot(page, spreads, "Response time percentiles of all transactions, by level.")


def _plot(page: Page, spreads: dict[str, Spread], caption: str) -> Figure | None:
    # The fastest and the slowest tell most; between them every second one is left out.
    names = list(spreads)
    while len(names) > _MOST_SERIES:
        names = [*names[:-1:2], names[-1]]
    points = [point for name in names for point in _tail(name, spreads[name])]
    if not points:
        return None
    left = f" {len(spreads) - len(names)} others are not drawn." * (len(names) < len(spreads))
    return Figure(
        render(
            lambda width: percentiles.percentiles(points, "Response time, ms", width),
            Size(438),
            f"{caption} Percentiles rise from left to right.",
        ),
        f"{caption}{left}",
        keys(names, shapes=False),
        page.transaction_notice,
    )


def _tail(name: str, spread: Spread) -> Iterable[percentiles.Point]:
    """Points up to the quantile of the slowest operation but one."""
    step = 0
    while (tail := 10 ** (step / _STEPS)) <= max(2, spread.count):
        value = spread.quantile_ms(1 - 1 / tail)
        if value > 0:
            yield percentiles.Point(name, tail, value)
        step += 1
