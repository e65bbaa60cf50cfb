"""Certificates: the measurement intervals."""

from __future__ import annotations

from dyno.bundle.phases.certify import CertifyDetail
from dyno.report.kit.blocks import Cell, Column, Section, Table
from dyno.report.kit.formats import rounded
from dyno.report.run.certify import title, values
from dyno.report.run.page import Page

ORDER = 46

_COLUMNS = (
    "Users",
    "Interval, s",
    "Queries",
    "Failed",
    "Queries/h",
    "Physical, MB/s",
    "Peak, MB/s",
    "Logical, MB/s",
    "CPU, %",
    "CPUs used",
)


def section(page: Page) -> Section | None:
    """A row for each interval."""
    phases = page.phases_of(CertifyDetail)
    if not phases:
        return None
    rows: list[list[str | Cell]] = [
        [
            title(page, phase),
            str(phase.detail.test),
            rounded(phase.detail.users),
            rounded(phase.detail.duration_s),
            *(rounded(value) for value in values(page, phase).values()),
        ]
        for phase in phases
    ]
    columns = [Column("Target"), Column("Test")]
    columns += [Column(label, numeric=True) for label in _COLUMNS]
    note = (
        "Physical: reads of the devices under the data. Logical: reads through the buffer manager, "
        "where the engine counts them. CPU: of the whole machine; CPUs used: by the database."
    )
    lead = (
        "Concurrent users repeat the queries of a class. Queries count if they end in the window."
    )
    return Section("certify", "Certificate", [Table("Intervals", columns, rows, note)], lead)
