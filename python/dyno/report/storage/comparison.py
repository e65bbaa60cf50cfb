"""Arms and fill levels against the first: what analysis says of them, and tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.model import Estimate
from dyno.profiles.arms import How
from dyno.report.page import Page
from dyno.report.storage.places import Place
from dyno.report.storage.tables import by_figure, heading, table
from dyno.report.words import figure

CHANCE = "~"
"""Stands by a difference whose interval includes that there is none."""

CHANCE_MEANS = f"{CHANCE} its 95 % interval includes no difference"
ONCE = "measured once: a difference may be chance, see --repeat"


def ratio(page: Page, place: Place, curve: str, way: How) -> Estimate | None:
    """The best of a curve, divided by that of the first arm."""
    return page.estimate(f"{_start(place, curve, way)}.ratio")


def efficiency(page: Page, place: Place, curve: str) -> Estimate | None:
    """The best of several volumes at once, in % of what they would give if they scaled fully."""
    return page.estimate(f"{_start(place, curve, 'scaling')}.efficiency_percent")


def change(page: Page, place: Place, curve: str) -> Estimate | None:
    """The best of a curve against that at the first fill level, in %."""
    return page.estimate(f"{place.start}.{curve}.best_change_percent")


def _start(place: Place, curve: str, way: How) -> str:
    return ".".join(filter(None, (f"io.{way}.{place.arm.label}", place.stage.key, curve)))


def chance(found: Estimate, same: float) -> str:
    """A mark if the interval includes ``same``, which stands for no difference."""
    known = found.low is not None and found.high is not None and found.low <= same <= found.high
    return CHANCE if known else ""


def of_arms(page: Page, found: Sequence[Place], way: How) -> list[str]:
    """Curves down, arms across, each against the first: its ratio, or how well several scale."""
    names = [_column(place, way) for place in found]
    label = found[0].stage.label
    told = _table(page, found, names, way)
    return [*([f"{label} full"] if label else []), *told]


def of_stages(page: Page, found: Sequence[Place]) -> list[str]:
    """Curves down, fill levels across, each with its change against the first."""
    return _table(page, found, [f"{place.stage.label} full" for place in found], None)


def _table(page: Page, found: Sequence[Place], names: Sequence[str], way: How | None) -> list[str]:
    told: list[str] = []
    for about, curves in by_figure(found[0].curves):
        rows = [
            (curve.short, [_cell(page, place, curve.name, way) for place in found])
            for curve in curves
        ]
        told += table(heading(about, found[0].arm.ceiling), names, rows)
    compared = [
        one
        for place in found[1:]
        for curve in place.curves
        if (one := _compared(page, place, curve.name, way)) is not None
    ]
    if any(CHANCE in line for line in told):
        return [*told, CHANCE_MEANS]
    return [*told, ONCE] if compared and all(one.low is None for one in compared) else told


def _compared(page: Page, place: Place, curve: str, way: How | None) -> Estimate | None:
    if way is None:
        return change(page, place, curve)
    return efficiency(page, place, curve) or ratio(page, place, curve, way)


def _cell(page: Page, place: Place, name: str, way: How | None) -> str:
    curve = place.curve(name)
    own = figure(None if curve is None else curve.value)
    found = _compared(page, place, name, way)
    if found is None:
        return own
    if way is None:
        return f"{own} {found.value:+.1f}%{chance(found, 0)}"
    if found.unit == "%":
        return f"{own} {figure(found.value)}%{chance(found, 100)}"
    return f"{own} {found.value:.2f}x{chance(found, 1)}"


def _column(place: Place, way: How) -> str:
    count = len(place.arm.members)
    return f"{count} volume{'s'[: count != 1]}" if way == "scaling" else place.arm.label
