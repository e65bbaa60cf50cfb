"""Checks: data, consistency, isolation and answers."""

from __future__ import annotations

from dyno.bundle import check_names
from dyno.bundle.model import Check
from dyno.report.kit.blocks import Block, Cell, Column, Section, Table
from dyno.report.run import diffs
from dyno.report.run.page import Page

ORDER = 80

_COLUMNS = [Column("Check"), Column("Target"), Column("Result"), Column("Detail", wide=True)]


def section(page: Page) -> Section | None:
    """Counts by kind, failed and skipped checks, and all checks (folded)."""
    checks = page.checks
    if not checks:
        return None
    blocks: list[Block] = [_counts(page, checks)]
    notable = [check for check in checks if check.passed is not True]
    if notable:
        blocks.append(Table("Failed or skipped", _COLUMNS, [_row(page, c) for c in notable]))
    blocks += [_diff(page, check) for check in notable if diffs.places(check)]
    rows = [_row(page, check) for check in checks]
    blocks.append(Table(f"All {len(checks)} checks", _COLUMNS, rows, folded=True))
    return Section("checks", "Checks", blocks, folded=all(c.passed is not False for c in checks))


def _kind(check: Check) -> str:
    if check.name.startswith(check_names.ANSWERS):
        return "Answers"
    if check.name.startswith(check_names.ORDER):
        return "Row order"
    if check.name.startswith(check_names.CONDITION):
        return "Consistency conditions"
    if check.name.startswith(check_names.ISOLATION):
        return "Isolation"
    return "Data"


def _counts(page: Page, checks: list[Check]) -> Table:
    groups: dict[tuple[str, str], list[bool | None]] = {}
    for check in checks:
        groups.setdefault((_kind(check), check.target), []).append(check.passed)
    columns = [Column("Kind"), Column("Target")]
    columns += [Column(label, numeric=True) for label in ("Passed", "Failed", "Skipped")]
    rows: list[list[str | Cell]] = []
    for (kind, target), results in groups.items():
        failed = results.count(False)
        rows.append(
            [
                kind,
                _target(page, target),
                str(results.count(True)),
                Cell(str(failed), "bad", "failed") if failed else "0",
                str(results.count(None)),
            ]
        )
    return Table("Checks by kind", columns, rows)


def _diff(page: Page, check: Check) -> Table:
    """The values in which two answers differ."""
    first, second = diffs.sides(check)
    columns = [Column("Row", wide=True), Column("Column")]
    columns += [Column(first.capitalize(), numeric=True), Column(second.capitalize(), numeric=True)]
    columns.append(Column("Rule"))
    rows: list[list[str | Cell]] = [
        [
            place.where,
            place.column or "whole row",
            Cell(place.first, "bad"),
            place.second,
            place.rule,
        ]
        for place in diffs.places(check)
    ]
    return Table(f"{check.name} on {_target(page, check.target)}", columns, rows)


def _row(page: Page, check: Check) -> list[str | Cell]:
    result = {
        True: Cell("passed", "good"),
        False: Cell("failed", "bad"),
        None: Cell("skipped", "muted"),
    }
    return [check.name, _target(page, check.target), result[check.passed], check.message]


def _target(page: Page, target: str) -> str:
    return " and ".join(page.title(name) for name in target.split(" and "))
