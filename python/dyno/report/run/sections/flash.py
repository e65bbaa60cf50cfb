"""The cache on flash: what it served, by phase and kind of file."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.bundle.model import Phase
from dyno.bundle.phases.accelerate import AccelerateDetail
from dyno.report.kit.blocks import NOTHING, Cell, Column, Section, Table
from dyno.report.kit.formats import decimal_bytes, rounded
from dyno.report.run import volumes
from dyno.report.run.page import Page

ORDER = 63

_COLUMNS: tuple[tuple[str, Flash], ...] = (
    ("Read, blocks/s", Flash.blocks),
    ("Hits, %", Flash.hit_ratio),
    ("Hit, ms", Flash.hit),
    ("Miss, ms", Flash.miss),
    ("Scanned, blocks/s", Flash.scanned),
    ("Written, MB/s", Flash.written),
)
_STARTS = {
    "kept": "with what an earlier run left in it",
    "empty": "empty",
    "prewarmed": "prewarmed",
}
_NOTE = (
    "Reads that the page cache served do not count. Blocks of 8 KiB; times are means of requests, "
    "which may have several blocks. Scanned: not cached, because a long sequential read asked for "
    "them. Speed-up: mean miss latency / mean read latency; without the cache, the volume may be "
    "slower than for these misses."
)


def section(page: Page) -> Section | None:
    """A table with a row for each phase and kind of file."""
    rows: list[list[str | Cell]] = []
    for phase in page.phases(*volumes.PHASES):
        rows += _rows(page, phase)
    if not rows:
        return None
    columns = [Column("Phase"), Column("Files")]
    columns += [Column(label, numeric=True) for label, _ in _COLUMNS]
    columns.append(Column("Speed-up at this miss latency, times", numeric=True))
    table = Table("Reads by phase and kind of file", columns, rows, _NOTE)
    return Section("flash", "Cache on flash", [table], _lead(page))


def _rows(page: Page, phase: Phase) -> list[list[str | Cell]]:
    at = page.resources(phase)
    kinds = page.known.between(f"{at}.{SOURCE}.", metrics.Sampled.mean)
    suffix = f".{Flash.blocks}"
    names = [kind.removesuffix(suffix) for kind in kinds if kind.endswith(suffix)]
    bound = page.value(metrics.Accelerated(phase.name).speed_up_bound)
    return [
        [
            phase.title if name == ALL else "",
            name,
            *(rounded(page.value(at.sampled(SOURCE, name, metric).mean)) for _, metric in _COLUMNS),
            rounded(bound) if name == ALL else NOTHING,
        ]
        for name in names
    ]


def _lead(page: Page) -> str:
    found = page.phases_of(AccelerateDetail)
    if not found or found[0].detail.size_bytes is None:
        return ""
    detail = found[0].detail
    start = _STARTS.get(detail.start or "", "")
    added = f" ({decimal_bytes(detail.prewarmed_bytes)} added)" if detail.prewarmed_bytes else ""
    return f"A cache of {decimal_bytes(detail.size_bytes)}, {start} at the start{added}."
