"""Every load of every curve, as a table."""

from __future__ import annotations

from dyno.profiles.arms import Ceiling, Load
from dyno.report.blocks import NOTHING, Cell, Column, Table, without_empty
from dyno.report.page import Page
from dyno.report.storage.curves import SIDES, Curve
from dyno.report.storage.places import Place
from dyno.report.words import figure, number

_TIMES = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9", "max": "max"}
_RESPONSES = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99"}
_APART = {"iops": ("Read IOPS", "Write IOPS"), "mbps": ("Read MB/s", "Write MB/s")}
_COUNTS = ("late_percent", "unissued", "errors", "windows", "cov_percent")


def table(page: Page, place: Place) -> Table:
    """Rates, latencies of service and of response, and what failed; columns without any left out.

    Where each load was measured more than once, rates have their intervals.
    """
    columns = [Column("Curve")]
    columns += [
        Column(label, numeric=True)
        for label in ("Depth", "Due, 1/s", "In flight", "IOPS", "95 %", *_APART["iops"])
    ]
    columns += [
        Column(label, numeric=True) for label in ("MB/s", *_APART["mbps"], "Syncs/s", "CPU, %")
    ]
    ceiling = place.arm.ceiling
    columns.append(Column(f"Slowest {ceiling.of}, ms", numeric=True))
    for side in SIDES:
        columns += [
            Column(f"{side.capitalize()} {label}, ms", numeric=True) for label in _TIMES.values()
        ]
    for side in SIDES[:2]:
        columns += [
            Column(f"{side.capitalize()} response {label}, ms", numeric=True)
            for label in _RESPONSES.values()
        ]
    columns += [
        Column(label, numeric=True)
        for label in ("Late, %", "Not issued", "Failed", "Windows", "CoV, %")
    ]
    rows = [_row(page, curve, load, ceiling) for curve in place.curves for load in curve.loads]
    kept, rows = without_empty(columns, rows)
    return Table(f"Every point{place.of}", kept, rows, folded=True, note=_note(place, kept))


def _note(place: Place, columns: list[Column]) -> str:
    labels = {column.label for column in columns}
    words = ["Latencies from the time of submission to completion."]
    if any(curve.is_open for curve in place.curves):
        words.append(
            "Response times run from when an I/O was due; late ones were issued more than 1 ms "
            "after that."
        )
    if f"Slowest {place.arm.ceiling.of}, ms" in labels:
        words.append(
            "The slowest: of reads, writes and syncs of any job on any volume, for which the "
            "ceiling is."
        )
    if "CPU, %" in labels:
        words.append("CPU: of all processors of this machine, whoever used them.")
    if "95 %" in labels:
        words.append("95 %: half of the interval of the mean IOPS over the windows.")
    if any(curve.jobs for curve in place.curves):
        words.append("Jobs that run together are put together here.")
    return " ".join(words)


def _row(page: Page, curve: Curve, load: Load, ceiling: Ceiling) -> list[str | Cell]:
    name = curve.at(load)
    row: list[str | Cell] = [curve.title, str(load.depth), figure(load.rate)]
    row += [figure(page.value(f"{name}.{what}")) for what in ("in_flight", "iops")]
    row.append(_half(page, f"{name}.iops"))
    row += _apart(page, name, "iops")
    row.append(figure(page.value(f"{name}.mbps")))
    row += _apart(page, name, "mbps")
    row += [figure(page.value(f"{name}.{what}")) for what in ("syncs_per_s", "cpu_percent")]
    row += _times(page, f"{name}.slowest_", {ceiling.of: ceiling.of}, ceiling)
    for side in SIDES:
        row += _times(page, f"{name}.{side}_", _TIMES, None if curve.is_open else ceiling)
    for side in SIDES[:2]:
        row += _times(page, f"{name}.{side}_response_", _RESPONSES, ceiling)
    for what in _COUNTS:
        value = number(page.value(f"{name}.{what}"))
        if what == "errors":
            row.append(Cell(figure(value), "bad", "failed") if value else NOTHING)
        else:
            row.append(figure(value))
    return row


def _apart(page: Page, name: str, what: str) -> list[str | Cell]:
    return [figure(page.value(f"{name}.{side}_{what}")) for side in SIDES[:2]]


def _times(
    page: Page, start: str, labels: dict[str, str], ceiling: Ceiling | None
) -> list[str | Cell]:
    """Percentiles; that which the ceiling is about stands out where it is over it."""
    cells: list[str | Cell] = []
    for label in labels:
        value = page.value(f"{start}{label}_ms")
        over = ceiling is not None and label == ceiling.of and (value or 0.0) > ceiling.ms
        cells.append(Cell(figure(value), "bad", "over the ceiling") if over else figure(value))
    return cells


def _half(page: Page, name: str) -> str:
    found = page.estimate(name)
    if found is None or found.high is None:
        return NOTHING
    return f"± {figure(found.high - found.value)}"
