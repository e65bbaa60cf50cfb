"""Network traffic by phase and interface."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.bundle import metrics
from dyno.bundle.model import Phase
from dyno.report.kit.blocks import Cell, Column, Table
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page

_METRICS = {
    "receive_mbps": "Received MB/s",
    "send_mbps": "Sent MB/s",
    "errors": "Errors/s",
    "drops": "Drops/s",
}
_LEAST_MBPS = 1.0
"""An interface with less traffic, and neither errors nor drops, is not listed."""


def table(page: Page, phases: Sequence[Phase]) -> Table | None:
    """A row for each phase and interface that carried data, or had errors or drops."""
    rows: list[list[str | Cell]] = []
    for phase in phases:
        at = page.resources(phase)
        names = page.known.between(f"{at}.interface.", metrics.Sampled.mean)
        for name in dict.fromkeys(one.rpartition(".")[0] for one in names):
            means = [page.value(at.sampled("interface", name, one).mean) or 0 for one in _METRICS]
            received, sent, *faults = means
            if max(received, sent) >= _LEAST_MBPS or any(faults):
                rows.append([phase.title, name, *map(rounded, means)])
    if not rows:
        return None
    columns = [Column("Phase"), Column("Interface")]
    columns += [Column(label, numeric=True) for label in _METRICS.values()]
    note = "Means over the phase. Errors and drops are of both directions, as the driver counts."
    return Table("Network interfaces", columns, rows, note)
