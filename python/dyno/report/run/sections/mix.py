"""Several workloads or targets at once, side by side, and each against itself alone."""

from __future__ import annotations

from dyno.bundle import mixes
from dyno.report.kit.blocks import Block, Cell, Column, Note, Notes, Section, Table, without_empty
from dyno.report.kit.formats import rounded
from dyno.report.run.mix import against, change, load_text, shown, totals
from dyno.report.run.page import Page

ORDER = 11

_NOTE = (
    "All begin together and are measured over the same time. Response times of transactions are "
    "those of the workload's main operation, of queries from submission to the last row."
)


def section(page: Page) -> Section | None:
    """A row per member and window, sums over targets, and the slowdown."""
    if not mixes.windows(page.run):
        return None
    blocks: list[Block] = []
    slower = _against(page)
    if slower is not None:
        blocks.append(slower)
    blocks.append(_members(page))
    sums = _totals(page)
    if sums is not None:
        blocks.append(sums)
    failed = [
        Note(f"{one.name}: {one.member.error}", "bad")
        for one in shown(page)
        if one.member.error is not None
    ]
    if failed:
        blocks.append(Notes(failed))
    return Section("mix", "At the same time", blocks, _lead(page))


def _lead(page: Page) -> str:
    windows = mixes.windows(page.run)
    members = list(dict.fromkeys(one.name for one in shown(page)))
    detail = windows[0].detail
    text = f"{', '.join(members[:-1])} and {members[-1]} at once" if members[1:] else members[0]
    if detail.duration_s is not None:
        text += f", {detail.duration_s:g} s measured after {detail.warmup_s or 0:g} s of warm-up"
        if any(not one.drives for one in shown(page)):
            text += ". Query streams repeat their queries meanwhile"
    if any(window.detail.alone is not None for window in windows):
        text += "; each also ran by itself, in alternating order"
    return f"{text}."


def _notice(page: Page) -> str:
    notices = dict.fromkeys(page.notice(str(one.member.workload)) for one in shown(page))
    return " ".join(filter(None, notices))


def _members(page: Page) -> Table:
    several = len(mixes.windows(page.run)) > 1
    columns = [
        Column("Workload"),
        *([Column("Window")] if several else []),
        Column("Target"),
        Column("Load"),
        *(Column(label, numeric=True) for label in ("Throughput", "Median", "p95", "Failed")),
    ]
    rows: list[list[str | Cell]] = []
    for one in shown(page):
        failed = one.failed(page)
        lost = one.member.error is not None
        rows.append(
            [
                str(one.member.workload),
                *([one.window.title] if several else []),
                page.title(one.member.target),
                one.load(),
                Cell("failed", "bad", "failed") if lost else load_text(page, one),
                *one.times(page),
                Cell(rounded(failed), "bad", "failed") if failed else rounded(failed),
            ]
        )
    return Table("Side by side", columns, rows, _NOTE, _notice(page))


def _totals(page: Page) -> Table | None:
    found = totals(page)
    if not found:
        return None
    labels = ("Targets", "Transactions/s", "Queries", "Queries/h")
    columns = [Column("Workload"), *(Column(label, numeric=True) for label in labels)]
    rows: list[list[str | Cell]] = [
        [
            name,
            *(
                rounded(page.value(key))
                for key in (at.targets, at.tps, at.queries, at.queries_per_h)
            ),
        ]
        for name, at in found
    ]
    columns, rows = without_empty(columns, rows)
    note = "Sums over the same time."
    if any(not one.drives for one in shown(page)):
        note += (
            " Query tests that run to completion count from the first start to the last end, so "
            "their rate can be lower than the sum of the targets."
        )
    return Table("Sum over targets", columns, rows, note, _notice(page))


def _against(page: Page) -> Table | None:
    found = against(page)
    if not found:
        return None
    columns = [
        Column("Workload"),
        *(Column(label, numeric=True) for label in ("Throughput", "p95", "Pairs")),
    ]
    rows: list[list[str | Cell]] = [
        [one.name, change(one.throughput), change(one.p95), str(one.pairs)] for one in found
    ]
    note = "Change when run with the others, relative to running alone"
    bounded = any(one.throughput is not None and one.throughput.low is not None for one in found)
    note += (
        ", with the 95 % interval over pairs of windows."
        if bounded
        else ". An interval needs three pairs of windows (--repeat 3)."
    )
    if any(not one.drives for one in shown(page)):
        note += " Of queries: the mean times of those that a stream completed in both windows."
    return Table("Together compared with alone", columns, rows, note, _notice(page))
