"""Logs: writes with syncs."""

from __future__ import annotations

from dyno.report.kit.blocks import Column, Table
from dyno.report.kit.formats import figure
from dyno.report.run.page import Page
from dyno.report.storage.curves import short_load
from dyno.report.storage.places import Place
from dyno.report.storage.tables import shown_load

_FIGURES = {
    "Writes/s": "iops",
    "Syncs/s": "syncs_per_s",
    "Write p95, ms": "write_p95_ms",
    "Sync p50, ms": "sync_p50_ms",
    "Sync p95, ms": "sync_p95_ms",
    "Sync p99.9, ms": "sync_p999_ms",
}


def syncs(page: Page, place: Place) -> list[Table]:
    """A row for each curve with syncs, at its best load."""
    rows: list[list[str]] = []
    for curve in place.curves:
        load = shown_load(curve)
        if curve.synced is not None and not curve.jobs and load is not None:
            name = curve.at(load)
            values = [page.value(f"{name}.{what}") for what in _FIGURES.values()]
            rows.append([curve.title, short_load(load), *map(figure, values)])
    columns = [Column("Curve"), Column("Load"), *(Column(each, numeric=True) for each in _FIGURES)]
    note = "A sync starts when its writes complete; the next write starts when the sync completes."
    caption = f"Durable writes{place.of}, at the best load"
    return [Table(caption, columns, rows, note=note)] if rows else []
