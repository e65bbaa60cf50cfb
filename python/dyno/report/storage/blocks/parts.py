"""The results of each of several concurrent jobs or volumes."""

from __future__ import annotations

from dyno.report.kit.blocks import NOTHING, Cell, Column, Table, without_empty
from dyno.report.kit.formats import figure
from dyno.report.run.page import Page
from dyno.report.storage.blocks.lead import MOST_VOLUMES
from dyno.report.storage.curves import SIDES, Curve, short_load
from dyno.report.storage.places import Place
from dyno.report.storage.tables import shown_load

_TIMES = (
    *((f"{side.capitalize()} p95, ms", f"{side}_p95_ms") for side in SIDES),
    *((f"{side.capitalize()} response p95, ms", f"{side}_response_p95_ms") for side in SIDES[:2]),
)
_RATES = (("IOPS", "iops"), ("MB/s", "mbps"), ("Syncs/s", "syncs_per_s"))


def parts(page: Page, place: Place) -> list[Table]:
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
    columns += [Column(label, numeric=True) for label, _ in (*_RATES, *_TIMES)]
    columns.append(Column("Failed", numeric=True))
    rows: list[list[str | Cell]] = []
    without = False
    for curve in curves:
        load = shown_load(curve)
        without |= curve.best is None
        for shown in ([load] if load else []) if best else curve.loads:
            for name in curve.jobs if kind == "job" else curve.volumes:
                start = f"{curve.at(shown)}.{kind}.{name}"
                if page.value(f"{start}.iops") is None:
                    continue
                title = curve.kind if curve.jobs else curve.title
                values = [page.value(f"{start}.{what}") for _, what in (*_RATES, *_TIMES)]
                failed = page.value(f"{start}.errors")
                rows.append(
                    [name, title, short_load(shown), *map(figure, values),
                     Cell(figure(failed), "bad", "failed") if failed else NOTHING]
                )  # fmt: skip
    kept, rows = without_empty(columns, rows)
    note = "Latency percentiles of each; they do not average to the total's."
    if best and without:
        note += " Curves without a load within the ceiling show the smallest load."
    long = kind == "at" and any(len(curve.volumes) > MOST_VOLUMES for curve in curves)
    return Table(caption, kept, rows, folded=long or not best, note=note)
