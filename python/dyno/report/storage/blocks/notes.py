"""Notes on searches and on curves that are repeated until steady."""

from __future__ import annotations

from dyno.report.kit.blocks import Note, Notes, Tone
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.curves import Curve
from dyno.report.storage.places import FilledSet

_SEARCHED: dict[str, tuple[str, Tone]] = {
    "most": (
        "The best is at the largest allowed load; the true maximum may be higher",
        "",
    ),
    "saturated": ("Saturated: a larger load did not increase throughput", "muted"),
}


def notes(page: Page, place: FilledSet) -> list[Notes]:
    """The notes, each with its curves."""
    said: dict[tuple[str, Tone], list[str]] = {}
    for curve in place.curves:
        for what in (_search(curve), _settled(page, curve)):
            if what is not None:
                said.setdefault(what, []).append(curve.title)
    found = [Note(f"{text}: {'; '.join(own)}.", tone) for (text, tone), own in said.items()]
    return [Notes(found)] if found else []


def _search(curve: Curve) -> tuple[str, Tone] | None:
    best = curve.best
    if best is None or best.confirmed is None:
        return None
    if not best.confirmed:
        return "The best load was not confirmed by further windows", "bad"
    return _SEARCHED.get(best.stopped)


def _settled(page: Page, curve: Curve) -> tuple[str, Tone] | None:
    before = page.value(curve.metrics.settling_windows)
    if curve.settled is None or before is None:
        return None
    if curve.settled:
        return f"Steady after {rounded(before)} windows, which are excluded", "muted"
    return "Never steady; values are from the last windows", "bad"
