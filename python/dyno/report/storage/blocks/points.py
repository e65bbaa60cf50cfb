"""All loads of all curves: a table of rates and a table of latencies."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.profiles.arms import Ceiling
from dyno.report.kit.blocks import NOTHING, Cell, Column, Table, without_empty
from dyno.report.kit.formats import figure
from dyno.report.run.page import Page
from dyno.report.storage.curves import SIDES, Curve
from dyno.report.storage.places import Place

_APART = {"IOPS": "iops", "MB/s": "mbps"}
_TIMES = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99", "p999": "p99.9", "max": "max"}
_RESPONSES = {"mean": "mean", "p50": "p50", "p95": "p95", "p99": "p99"}
_COUNTS = {
    "late_percent": "Late, %",
    "unissued": "Not issued",
    "errors": "Failed",
    "windows": "Windows",
    "cov_percent": "CoV, %",
}


def tables(page: Page, place: Place) -> list[Table]:
    """Rates and errors, then service and response latencies.

    Empty columns are omitted. Rates of repeated loads have intervals.
    """
    loads = [(curve, load) for curve in place.curves for load in curve.loads]
    asked: list[list[str | Cell]] = [
        [curve.title, str(load.depth), figure(load.rate)] for curve, load in loads
    ]
    rates = [_rates(page, curve.at(load)) for curve, load in loads]
    latencies = [_latencies(page, place, curve, curve.at(load)) for curve, load in loads]
    caption = f"All points{place.of}"
    return [
        _table(
            f"{caption}: rates",
            _rate_columns(),
            zip(asked, rates, strict=True),
            _about_rates(place),
        ),
        _table(
            f"{caption}: latencies, ms",
            _latency_columns(place),
            zip(asked, latencies, strict=True),
            _about_latencies(place),
        ),
    ]


def _table(
    caption: str,
    columns: list[str],
    rows: Iterable[tuple[list[str | Cell], list[str | Cell]]],
    notes: Iterable[tuple[str, str]],
) -> Table:
    """Notes, each with its column; shown always if the column is empty."""
    made = [Column("Curve")]
    made += [Column(label, numeric=True) for label in ("Depth", "Due, 1/s", *columns)]
    kept, told = without_empty(made, [[*asked, *cells] for asked, cells in rows])
    labels = {"", *(column.label for column in kept)}
    words = " ".join(text for label, text in notes if label in labels)
    return Table(caption, kept, told, folded=True, note=words)


def _rate_columns() -> list[str]:
    columns = ["Queue depth"]
    for label in _APART:
        columns += [label, *(["95 %"] if label == "IOPS" else [])]
        columns += [f"{side.capitalize()} {label}" for side in SIDES[:2]]
    return [*columns, "Syncs/s", "CPU, %", *_COUNTS.values()]


def _about_rates(place: Place) -> Iterable[tuple[str, str]]:
    yield "95 %", "95 %: half-width of the interval of the mean IOPS over the windows."
    yield "CPU, %", "CPU: all CPUs of this machine, all processes."
    yield "Late, %", "Late: issued more than 1 ms after the scheduled time."
    yield from _about_jobs(place)


def _about_jobs(place: Place) -> Iterable[tuple[str, str]]:
    if any(curve.jobs for curve in place.curves):
        yield "", "Concurrent jobs are combined."


def _rates(page: Page, name: str) -> list[str | Cell]:
    row: list[str | Cell] = [figure(page.value(f"{name}.in_flight"))]
    for label, what in _APART.items():
        row.append(figure(page.value(f"{name}.{what}")))
        row += [_half(page, f"{name}.iops")] if label == "IOPS" else []
        row += [figure(page.value(f"{name}.{side}_{what}")) for side in SIDES[:2]]
    row += [figure(page.value(f"{name}.{what}")) for what in ("syncs_per_s", "cpu_percent")]
    for what in _COUNTS:
        value = page.value(f"{name}.{what}")
        if what == "errors":
            row.append(Cell(figure(value), "bad", "failed") if value else NOTHING)
        else:
            row.append(figure(value))
    return row


def _slowest(place: Place) -> str:
    return f"Slowest {place.arm.ceiling.of}"


def _latency_columns(place: Place) -> list[str]:
    columns = [_slowest(place)]
    for side in SIDES:
        columns += [f"{side.capitalize()} {label}" for label in _TIMES.values()]
    for side in SIDES[:2]:
        columns += [f"{side.capitalize()} response {label}" for label in _RESPONSES.values()]
    return columns


def _about_latencies(place: Place) -> Iterable[tuple[str, str]]:
    yield "", "Latencies are from submission to completion."
    if any(curve.is_open for curve in place.curves):
        yield "", "Response times start at the scheduled time."
    yield (
        _slowest(place),
        "Slowest: of reads, writes and syncs of all jobs on all volumes; the ceiling applies to "
        "it.",
    )
    yield from _about_jobs(place)


def _latencies(page: Page, place: Place, curve: Curve, name: str) -> list[str | Cell]:
    ceiling = place.arm.ceiling
    row = _times(page, f"{name}.slowest_", {ceiling.of: ceiling.of}, ceiling)
    for side in SIDES:
        row += _times(page, f"{name}.{side}_", _TIMES, None if curve.is_open else ceiling)
    for side in SIDES[:2]:
        row += _times(page, f"{name}.{side}_response_", _RESPONSES, ceiling)
    return row


def _times(
    page: Page, start: str, labels: dict[str, str], ceiling: Ceiling | None
) -> list[str | Cell]:
    """Percentiles; violations of the ceiling are highlighted."""
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
