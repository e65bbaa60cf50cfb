"""Comparisons of volume sets and fill levels with the first, and tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.bundle import metrics
from dyno.bundle.model import Estimate
from dyno.profiles.volume_sets import How
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.places import FilledSet
from dyno.report.storage.tables import by_metric, heading, table

CHANCE = "~"
"""Marks a difference that is not significant."""

CHANCE_MEANS = f"{CHANCE} not significant: its 95 % interval includes zero"
BRACKETS = "in brackets: 95 % interval"
ONCE = "measured once: differences may be noise, see --repeat"


def ratio(page: Page, place: FilledSet, curve: str, way: How) -> Estimate | None:
    """The best of a curve, divided by that of the first volume set."""
    return page.estimate(_metrics(place, curve, way).ratio)


def efficiency(page: Page, place: FilledSet, curve: str) -> Estimate | None:
    """The best of several concurrent volumes, in % of linear scaling."""
    return page.estimate(_metrics(place, curve, "scaling").efficiency_percent)


def change(page: Page, place: FilledSet, curve: str) -> Estimate | None:
    """The change of a curve's best from the first fill level, in %."""
    return page.estimate(place.metrics.curve(curve).best_change_percent)


def _metrics(place: FilledSet, curve: str, way: How) -> metrics.Compared:
    return metrics.Compared(way, place.volume_set.label, place.stage.key, curve)


def chance(found: Estimate, same: float) -> str:
    """A mark if the interval includes ``same``, the value for no difference."""
    known = found.low is not None and found.high is not None and found.low <= same <= found.high
    return CHANCE if known else ""


def of_sets(
    page: Page, found: Sequence[FilledSet], way: How, *, intervals: bool = True
) -> list[str]:
    """Curves by volume sets, each with its ratio to the first or its scaling efficiency.

    Args:
        page: The page.
        found: Volume sets at one fill level.
        way: How they were measured.
        intervals: Whether a second line shows the intervals of the differences.
    """
    names = [_column(place, way) for place in found]
    label = found[0].stage.label
    lines = _table(page, found, names, way, intervals=intervals)
    return [*([f"{label} full"] if label else []), *lines]


def of_stages(page: Page, found: Sequence[FilledSet], *, intervals: bool = True) -> list[str]:
    """Curves by fill levels, each with its change from the first."""
    names = [f"{place.stage.label} full" for place in found]
    return _table(page, found, names, None, intervals=intervals)


def _table(
    page: Page,
    found: Sequence[FilledSet],
    names: Sequence[str],
    way: How | None,
    *,
    intervals: bool,
) -> list[str]:
    lines: list[str] = []
    differences = {
        (place, curve.name): one
        for place in found[1:]
        for curve in place.curves
        if (one := _compared(page, place, curve.name, way)) is not None
    }
    known = any(one.low is not None for one in differences.values())
    for about, curves in by_metric(found[0].curves):
        rows: list[tuple[str, list[str]]] = []
        for curve in curves:
            own = [rounded(None if (at := place.curve(curve.name)) is None else at.value)
                   for place in found]  # fmt: skip
            against = [differences.get((place, curve.name)) for place in found]
            if known and intervals:
                rows.append((curve.short, own))
                rows.append(("", ["" if one is None else _spanned(one, way) for one in against]))
            else:
                cells = [value if one is None else f"{value} {_difference(one, way)}"
                         for value, one in zip(own, against, strict=True)]  # fmt: skip
                rows.append((curve.short, cells))
        lines += table(heading(about, found[0].volume_set.ceiling), names, rows)
    if known and intervals:
        marked = f"; {CHANCE} not significant"
        return [*lines, f"{BRACKETS}{marked * any(CHANCE in line for line in lines)}"]
    if any(CHANCE in line for line in lines):
        return [*lines, CHANCE_MEANS]
    return [*lines, ONCE] if differences and not known else lines


def _compared(page: Page, place: FilledSet, curve: str, way: How | None) -> Estimate | None:
    if way is None:
        return change(page, place, curve)
    return efficiency(page, place, curve) or ratio(page, place, curve, way)


def _difference(found: Estimate, way: How | None) -> str:
    """``-15.0%``, ``95.5%`` or ``0.71x``, with a mark if not significant."""
    if way is None:
        return f"{found.value:+.1f}%{chance(found, 0)}"
    if found.unit == "%":
        return f"{rounded(found.value)}%{chance(found, 100)}"
    return f"{found.value:.2f}x{chance(found, 1)}"


def _spanned(found: Estimate, way: How | None) -> str:
    """The same with its interval: ``0.71x (0.68–0.74)``."""
    if found.low is None or found.high is None:
        return _difference(found, way)
    if way is None:
        # Fewer digits: signs need the space.
        value, low, high = (
            f"{one:+.1f}" if abs(one) < 9.95 else f"{one:+.0f}"
            for one in (found.value, found.low, found.high)
        )
        return f"{value}%{chance(found, 0)} ({low} to {high})"
    if found.unit == "%":
        return f"{_difference(found, way)} ({rounded(found.low)}–{rounded(found.high)})"
    low, high = (f"{one:.2f}" if one < 10 else rounded(one) for one in (found.low, found.high))
    return f"{_difference(found, way)} ({low}–{high})"


def _column(place: FilledSet, way: How) -> str:
    count = len(place.volume_set.members)
    return f"{count} volume{'s'[: count != 1]}" if way == "scaling" else place.volume_set.label
