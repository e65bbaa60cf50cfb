"""All loads of all curves: a table of rates and a table of latencies."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dyno.bundle import metrics
from dyno.bundle.metrics.io import SIDES, Quantity, Rate
from dyno.profiles.volume_sets import Ceiling
from dyno.report.kit.blocks import NOTHING, Cell, Column, Table, without_empty
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.curves import Curve
from dyno.report.storage.places import FilledSet

_APART: dict[str, Rate] = {"IOPS": "iops", "MB/s": "mbps"}
_TIMES: dict[Quantity, str] = {
    **{"mean": "mean", "p50": "p50", "p95": "p95"},
    **{"p99": "p99", "p999": "p99.9", "max": "max"},
}
_RESPONSES: tuple[Quantity, ...] = ("mean", "p50", "p95", "p99")
_L = metrics.StorageLoad
_COUNTS = {
    "Late, %": _L.late_percent,
    "Not issued": _L.unissued,
    "Failed": _L.errors,
    "Windows": _L.windows,
    "CoV, %": _L.cov_percent,
}


def tables(page: Page, place: FilledSet) -> list[Table]:
    """Rates and errors, then service and response latencies.

    Empty columns are omitted. Rates of repeated loads have intervals.
    """
    loads = [(curve, load) for curve in place.curves for load in curve.loads]
    asked: list[list[str | Cell]] = [
        [curve.title, str(load.depth), rounded(load.rate)] for curve, load in loads
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
    kept, kept_rows = without_empty(made, [[*asked, *cells] for asked, cells in rows])
    labels = {"", *(column.label for column in kept)}
    words = " ".join(text for label, text in notes if label in labels)
    return Table(caption, kept, kept_rows, folded=True, note=words)


def _rate_columns() -> list[str]:
    columns = ["Queue depth"]
    for label in _APART:
        columns += [label, *(["95 %"] if label == "IOPS" else [])]
        columns += [f"{side.capitalize()} {label}" for side in SIDES[:2]]
    return [*columns, "Syncs/s", "CPU, %", *_COUNTS]


def _about_rates(place: FilledSet) -> Iterable[tuple[str, str]]:
    yield "95 %", "95 %: half-width of the interval of the mean IOPS over the windows."
    yield "CPU, %", "CPU: all CPUs of this machine, all processes."
    yield "Late, %", "Late: issued more than 1 ms after the scheduled time."
    yield from _about_jobs(place)


def _about_jobs(place: FilledSet) -> Iterable[tuple[str, str]]:
    if any(curve.jobs for curve in place.curves):
        yield "", "Concurrent jobs are combined."


def _rates(page: Page, at: metrics.StorageLoad) -> list[str | Cell]:
    row: list[str | Cell] = [rounded(page.value(at.in_flight))]
    for of in _APART.values():
        row.append(rounded(page.value(at.rate(of))))
        row += [_half(page, at.iops)] if of == "iops" else []
        row += [rounded(page.value(at.side(side).rate(of))) for side in SIDES[:2]]
    row += [rounded(page.value(key)) for key in (at.syncs_per_s, at.cpu_percent)]
    for metric in _COUNTS.values():
        value = page.value(metric.of(at))
        if metric == _L.errors:
            row.append(Cell(rounded(value), "bad", "failed") if value else NOTHING)
        else:
            row.append(rounded(value))
    return row


def _slowest(place: FilledSet) -> str:
    return f"Slowest {place.volume_set.ceiling.of}"


def _latency_columns(place: FilledSet) -> list[str]:
    columns = [_slowest(place)]
    for side in SIDES:
        columns += [f"{side.capitalize()} {label}" for label in _TIMES.values()]
    for side in SIDES[:2]:
        columns += [f"{side.capitalize()} response {label}" for label in _RESPONSES]
    return columns


def _about_latencies(place: FilledSet) -> Iterable[tuple[str, str]]:
    yield "", "Latencies are from submission to completion."
    if any(curve.is_open for curve in place.curves):
        yield "", "Response times start at the scheduled time."
    yield (
        _slowest(place),
        "Slowest: of reads, writes and syncs of all jobs on all volumes; the ceiling applies to "
        "it.",
    )
    yield from _about_jobs(place)


def _latencies(
    page: Page, place: FilledSet, curve: Curve, at: metrics.StorageLoad
) -> list[str | Cell]:
    ceiling = place.volume_set.ceiling
    row = _times(page, at.slowest, [ceiling.of], ceiling)
    for side in SIDES:
        row += _times(page, at.side(side).service, _TIMES, None if curve.is_open else ceiling)
    for side in SIDES[:2]:
        row += _times(page, at.side(side).response, _RESPONSES, ceiling)
    return row


def _times(
    page: Page,
    key: Callable[[Quantity], metrics.Key],
    quantities: Iterable[Quantity],
    ceiling: Ceiling | None,
) -> list[str | Cell]:
    """Percentiles; violations of the ceiling are highlighted."""
    cells: list[str | Cell] = []
    for of in quantities:
        value = page.value(key(of))
        over = ceiling is not None and of == ceiling.of and (value or 0.0) > ceiling.ms
        cells.append(Cell(rounded(value), "bad", "over the ceiling") if over else rounded(value))
    return cells


def _half(page: Page, key: metrics.Key) -> str:
    found = page.estimate(key)
    if found is None or found.high is None:
        return NOTHING
    return f"± {rounded(found.high - found.value)}"
