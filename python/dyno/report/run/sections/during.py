"""Maintenance under load: throughput before, during and after it, and its disk space."""

from __future__ import annotations

from dyno.bundle import metrics
from dyno.bundle.metrics.during import PARTS, STEPS
from dyno.bundle.model import Phase
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.contracts.databases import numbers
from dyno.report.kit.blocks import Cell, Column, Section, Table, without_empty
from dyno.report.kit.formats import (
    decimal_bytes,
    fixed,
    rounded,
    seconds,
    spanned,
    users_title,
)
from dyno.report.run.page import Page

ORDER = 55


def section(page: Page) -> Section | None:
    """A table of throughput by part, and a table of the maintenance operations."""
    phases = page.phases_of(MaintenanceDetail)
    if not phases:
        return None
    ran = [phase for phase in phases if not phase.detail.estimate_only]
    blocks = [*([_throughput(page, ran)] if ran else []), _work(page, phases)]
    return Section("during", "Maintenance under load", blocks)


def change(page: Page, key: metrics.Key) -> str:
    """A change in % with its interval; ``–`` for none."""
    return spanned(page.estimate(key), "{:+.1f}".format)


def _loads(page: Page, phase: Phase[MaintenanceDetail]) -> list[tuple[str, metrics.Beside]]:
    """The concurrent loads with their metrics; the total first."""
    at = metrics.Maintenance(phase.name)
    beside = phase.detail.level
    level = next((item for item in page.levels if item.name == beside), None)
    if level is None or level.phase is None:
        users = phase.detail.streams or 1
        several = f" of {users:g} users" if users > 1 else ""
        which = numbers(phase.detail.streams, phase.detail.streams_each)
        own = [(f"queries in database {number}", at.database(number)) for number in which]
        where = f" in {len(own)} databases" if own else ""
        return [(f"queries{several} on {page.title(phase.target)}{where}", at), *own]
    found: list[tuple[str, metrics.Beside]] = [(users_title(level.phase.detail, level.name), at)]
    for item, own in page.parts(beside):
        words = users_title(own.detail, item.name)
        found.append((words, at.database(own.detail.database)))
    return found


def _throughput(page: Page, phases: list[Phase[MaintenanceDetail]]) -> Table:
    columns = [Column("Maintenance"), Column("Load"), Column("Part")]
    columns += [
        Column(label, numeric=True)
        for label in (
            "Transactions/s",
            "Queries/h",
            "Change from before, %",
            f"{page.transactions.title} p95, ms",
        )
    ]
    rows: list[list[str | Cell]] = []
    for phase in phases:
        for load, beside in _loads(page, phase):
            for part in PARTS:
                at = beside.part(part)
                rows.append(
                    [
                        phase.title,
                        load,
                        part,
                        rounded(page.value(at.tps)),
                        rounded(page.value(at.qph)),
                        change(page, at.change_percent),
                        fixed(page.value(at.p95_ms), 1),
                    ]
                )
    columns, rows = without_empty(columns, rows)
    about = {
        "Transactions/s": "Transactions/s: mean of the whole seconds of each part. ",
        "Queries/h": "Queries/h: weighted by the time of each query before the maintenance. ",
    }
    note = "".join(about.get(column.label, "") for column in columns)
    note += "In brackets: 95 % interval. If it includes zero, the run shows no significant change."
    workloads = dict.fromkeys(str(phase.detail.workload) for phase in phases)
    notice = " ".join(filter(None, map(page.notice, workloads)))
    return Table("Before, during and after", columns, rows, note, notice)


def _work(page: Page, phases: list[Phase[MaintenanceDetail]]) -> Table:
    columns = [Column("Maintenance"), Column("Target"), Column("Result")]
    columns += [
        Column(label, numeric=True)
        for label in (
            *("Duration", "Rounds", "One round", "Peak extra space", "Estimated space"),
            *("Time to estimate", "Log in one round"),
        )
    ]
    columns.append(Column("Method", wide=True))
    rows: list[list[str | Cell]] = []
    for phase in phases:
        at = metrics.Maintenance(phase.name)
        error = phase.detail.error
        source = phase.detail.space_estimate_source
        words = [phase.detail.method or "–"]
        if error is not None:
            words.append(f"stopped: {error}")
        speed = page.value(at.mb_per_s)
        if speed is not None:
            size = decimal_bytes(page.value(at.written_bytes))
            words.append(f"{size} written and synced at {rounded(speed)} MB/s")
        steps = [
            f"{name} {seconds(value)}{_rate(page, at.step(name))}"
            for name in STEPS
            if (value := page.value(at.step(name).seconds)) is not None
        ]
        if steps:
            words.append(f"median of a step: {', '.join(steps)}")
        if source:
            words.append(f"estimate: {source}")
        rows.append(
            [
                phase.title,
                page.title(phase.target),
                Cell("estimated", "muted", "did not run")
                if phase.detail.estimate_only
                else Cell("done", "good")
                if error is None and phase.status == "done"
                else Cell("failed", "bad"),
                seconds(page.value(at.seconds)),
                rounded(phase.detail.rounds),
                seconds(page.value(at.round_s)),
                decimal_bytes(page.value(at.space_peak_bytes)),
                decimal_bytes(page.value(at.space_estimate_bytes)),
                seconds(page.value(at.estimate_s)),
                decimal_bytes(page.value(at.log_bytes)),
                "; ".join(words),
            ]
        )
    note = (
        "Extra space on disk is sampled five times a second; shorter peaks are missed. Findings of "
        "the maintenance are under Checks."
        " The log is that of all sessions, with the load. The peak of extra space of SQL Server, "
        "MariaDB, MySQL and SQLite includes the growth from the transactions, that of PostgreSQL "
        "does not. A round includes the verification of backups and counts of rows."
    )
    columns, rows = without_empty(columns, rows)
    return Table("Maintenance operations", columns, rows, note)


def _rate(page: Page, step: metrics.MaintenanceStep) -> str:
    """`` (120 MB/s)`` for a step that writes a known size."""
    value = page.value(step.mb_per_s)
    return "" if value is None else f" ({rounded(value)} MB/s)"
