"""The results of each of several concurrent jobs or volumes."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.metrics.io import SIDES
from dyno.report.kit.blocks import NOTHING, Cell, Column, Table, without_empty
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.blocks.lead import MOST_VOLUMES
from dyno.report.storage.curves import Curve, short_load
from dyno.report.storage.places import FilledSet
from dyno.report.storage.tables import shown_load

_HEADS = (
    *("IOPS", "MB/s", "Syncs/s"),
    *(f"{side.capitalize()} p95, ms" for side in SIDES),
    *(f"{side.capitalize()} response p95, ms" for side in SIDES[:2]),
)


def _keys(at: metrics.Part) -> list[metrics.Key]:
    """The keys of the columns ``_HEADS``."""
    return [
        *(at.iops, at.mbps, at.syncs_per_s),
        *(at.side(side).service("p95") for side in SIDES),
        *(at.side(side).response("p95") for side in SIDES[:2]),
    ]


def parts(page: Page, place: FilledSet) -> list[Table]:
    """By job and by volume at the best load of each curve; then all loads, folded."""
    made: list[Table] = []
    for what, kind, curves in (
        ("By job", "job", [curve for curve in place.curves if curve.jobs]),
        ("By volume", "at", [curve for curve in place.curves if curve.volumes]),
    ):
        best = _table(page, f"{what}{place.of}, at the best load", curves, kind, best=True)
        every = _table(page, f"{what}{place.of}, all loads", curves, kind, best=False)
        # With one load per curve, the best load is all there is.
        made += [best] if len(best.rows) == len(every.rows) else [best, every]
    return [table for table in made if table.rows]


def _table(page: Page, caption: str, curves: list[Curve], kind: str, *, best: bool) -> Table:
    own = "Job" if kind == "job" else "Volume"
    columns = [Column(own), Column("Curve"), Column("Load")]
    columns += [Column(label, numeric=True) for label in _HEADS]
    columns.append(Column("Failed", numeric=True))
    rows: list[list[str | Cell]] = []
    without = False
    for curve in curves:
        load = shown_load(curve)
        without |= curve.best is None
        for shown in ([load] if load else []) if best else curve.loads:
            for name in curve.jobs if kind == "job" else curve.volumes:
                of = curve.at(shown)
                at = of.job(name) if kind == "job" else of.volume(name)
                if page.value(at.iops) is None:
                    continue
                title = curve.kind if curve.jobs else curve.title
                values = [page.value(key) for key in _keys(at)]
                failed = page.value(at.errors)
                rows.append(
                    [name, title, short_load(shown), *map(rounded, values),
                     Cell(rounded(failed), "bad", "failed") if failed else NOTHING]
                )  # fmt: skip
    kept, rows = without_empty(columns, rows)
    note = "Latency percentiles of each; they do not average to the total's."
    if best and without:
        note += " Curves without a load within the ceiling show the smallest load."
    long = kind == "at" and any(len(curve.volumes) > MOST_VOLUMES for curve in curves)
    return Table(caption, kept, rows, folded=long or not best, note=note)
