"""Criteria: the limits on each load level, and their results."""

from __future__ import annotations

from dyno.bundle.model import CriterionResult
from dyno.criteria import USER
from dyno.report.kit.blocks import Cell, Column, Section, Table
from dyno.report.kit.formats import clock, joined, users_title, with_unit
from dyno.report.run.page import Page

ORDER = 15

_MOST_MET = 12
"""More default limits that passed are folded: a brokerage has 13 for each level."""


def section(page: Page) -> Section | None:
    """A row for each criterion and level."""
    if not page.criteria:
        return None
    # The kind matters only if some limits are not binding.
    mixed = not all(item.binding for item in page.criteria)
    columns = [
        Column("Level"),
        Column("Criterion"),
        *([Column("Kind")] if mixed else []),
        Column("Result"),
        Column("Window", numeric=True),
        Column("Worst interval", numeric=True),
        Column("At"),
        Column("Violations", numeric=True),
        Column("Measured on", wide=True),
    ]
    order = {False: 0, None: 1, True: 2}
    results = sorted(page.criteria, key=lambda item: (not item.binding, order[item.passed]))
    titles = {level.name: level for level in page.levels}
    rows: list[list[str | Cell]] = []
    met: list[list[str | Cell]] = []
    for item in results:
        level = titles.get(item.level)
        title = users_title(level.phase.detail, item.level) if level and level.phase else item.level
        kind = ["requested" if item.binding else "default"] if mixed else []
        where = met if item.passed and not item.binding else rows
        where.append([title, joined(item.criterion), *kind, *_row(item)])
    if len(met) <= _MOST_MET:
        rows, met = [*rows, *met], []
    note = (
        "Result: the value of the whole window against the limit. Violations: intervals that "
        "exceed the limit, of all intervals. A criterion without data is not evaluated."
    )
    named = [item.source.split("; ") for item in results if item.source != USER]
    sources = dict.fromkeys(part for parts in named for part in parts)
    note += f" Default limits: {'; '.join(sources)}." if sources else ""
    tables = [
        Table("Limits by level", columns, rows, note, page.transaction_notice),
        Table("Default limits that passed", columns, met, folded=True),
    ]
    return Section("criteria", "Criteria", [one for one in tables if one.rows], _lead(page))


def _lead(page: Page) -> str:
    words: list[str] = []
    judged = [item for item in page.criteria if item.passed is not None]
    if judged and all(item.passed for item in judged):
        words.append("All evaluated limits passed.")
    if not all(item.binding for item in page.criteria):
        words.append(
            "Default limits are for comparison; only requested criteria decide the exit code. "
            "Without think times, a driver on the server's machine saturates the CPU of any server."
        )
    return " ".join(words)


def _row(item: CriterionResult) -> list[str | Cell]:
    if item.passed is None:
        return [Cell("not evaluated", "muted"), "–", "–", "–", "–", item.reason]
    return [
        Cell("pass", "good") if item.passed else Cell("fail", "bad" if item.binding else ""),
        with_unit(item.value, item.unit),
        with_unit(item.worst, item.unit),
        "–" if item.worst_t_ns is None else clock(item.worst_t_ns),
        f"{item.failing} of {item.intervals}" if item.intervals else "–",
        item.note,
    ]
