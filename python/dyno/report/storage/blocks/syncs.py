"""Logs: writes with syncs."""

from __future__ import annotations

from dyno.report.kit.blocks import Column, Table
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.curves import short_load
from dyno.report.storage.places import FilledSet
from dyno.report.storage.tables import shown_load

_HEADS = (
    *("Writes/s", "Syncs/s"),
    *("Write p95, ms", "Sync p50, ms", "Sync p95, ms", "Sync p99.9, ms"),
)


def syncs(page: Page, place: FilledSet) -> list[Table]:
    """A row for each curve with syncs, at its best load."""
    rows: list[list[str]] = []
    for curve in place.curves:
        load = shown_load(curve)
        if curve.synced is not None and not curve.jobs and load is not None:
            at = curve.at(load)
            write, sync = at.side("write").service, at.side("sync").service
            times = (write("p95"), sync("p50"), sync("p95"), sync("p999"))
            values = [page.value(key) for key in (at.iops, at.syncs_per_s, *times)]
            rows.append([curve.title, short_load(load), *map(rounded, values)])
    columns = [Column("Curve"), Column("Load"), *(Column(each, numeric=True) for each in _HEADS)]
    note = "A sync starts when its writes complete; the next write starts when the sync completes."
    caption = f"Durable writes{place.of}, at the best load"
    return [Table(caption, columns, rows, note=note)] if rows else []
