"""Candidates for a column store, and what excludes a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from dyno.config.units import digits
from dyno.contracts.stored_columns import StoredColumn
from dyno.decide.advise.amounts import percent, plural, some
from dyno.decide.advise.columnstore.build import Built, compression
from dyno.decide.advise.columnstore.view import ColumnView, TableColumns, plain_name

Code = Literal["small", "few-reads", "updated", "large-values", "no-statistics", "distinct"]

LEAST_ROWS = 1 << 20
"""One full rowgroup of a columnstore index; a smaller table gains little (DSS, 6.3.1 and 6.3.4)."""
LEAST_SHARE = 0.05
"""Least share of the reads. Dyno's."""
MOST_CHANGED = 0.01
"""Most rows updated or deleted a day, as a share of the table. Dyno's; SQL Server 2012 allows none
(DSS, 6.3.3 and 7.3.7)."""
MOST_LARGE = 0.5
"""Most bytes of a row in large values, as a share. Dyno's."""
LEAST_REPEATED = 0.25
"""Least share of the bytes in repeated values. Dyno's; the DSS document names none (7.3.7)."""
_DAY_S = 86400.0


@dataclass(frozen=True)
class Exclusion:
    """Why a column store does not suit a table; a clause."""

    code: Code
    reason: str


@dataclass(frozen=True)
class Candidate:
    """A table, and whether a column store suits it. Unknown values are None.

    Attributes:
        share: Share of the reads of all tables, 0 to 1.
        repeated: Share of the bytes of a row in repeated values, 0 to 1.
        sampled: Whether that is of the sample alone.
        changed_a_day: Rows updated or deleted a day, as a share of the table.
        ratio: Expected compression, by building the sample.
        without: Columns of large values, to leave out.
        exclusions: Empty for a candidate.
    """

    table: TableColumns
    share: float | None
    repeated: float | None
    sampled: bool
    changed_a_day: float | None
    ratio: float | None
    without: tuple[str, ...]
    exclusions: tuple[Exclusion, ...]


def judged(view: ColumnView, shares: Mapping[str, float]) -> list[Candidate]:
    """All tables of a view: candidates first, then by share of the reads and size.

    Args:
        view: The facts.
        shares: Shares of the reads by plain name; empty if reads are not counted.
    """
    found = [_judged(one, view, shares) for one in view.tables]
    return sorted(
        found,
        key=lambda one: (bool(one.exclusions), -(one.share or 0.0), -(one.table.bytes or 0)),
    )


def _judged(table: TableColumns, view: ColumnView, shares: Mapping[str, float]) -> Candidate:
    share = shares.get(plain_name(table.name), 0.0) if shares else None
    whole, sampled = repeated(table)
    rate = changed_a_day(table, view.counted_s)
    large = large_share(table)
    found = tuple(_exclusions(table, share, whole, rate, large))
    return Candidate(
        table,
        share,
        whole,
        sampled,
        rate,
        _ratio(table),
        tuple(one.name for one in table.columns if one.large),
        found,
    )


def worth_a_sample(table: TableColumns, counted_s: float | None, share: float | None) -> bool:
    """Whether what is known without a sample excludes no table."""
    facts = (share, None, changed_a_day(table, counted_s), large_share(table))
    return bool(table.columns) and all(
        one.code == "no-statistics" for one in _exclusions(table, *facts)
    )


def _exclusions(
    table: TableColumns,
    share: float | None,
    repeats: float | None,
    rate: float | None,
    large: float | None,
) -> Iterator[Exclusion]:
    if table.rows is not None and table.rows < LEAST_ROWS:
        yield Exclusion(
            "small", f"{plural(table.rows, 'row')}, less than one rowgroup of {digits(LEAST_ROWS)}"
        )
    if share is not None and share < LEAST_SHARE:
        yield Exclusion("few-reads", f"{percent(share)} of the reads")
    if rate is not None and rate > MOST_CHANGED:
        yield Exclusion("updated", f"{percent(rate)} of its rows are updated or deleted a day")
    if large is not None and large > MOST_LARGE:
        names = some([one.name for one in table.columns if one.large])
        yield Exclusion("large-values", f"{percent(large)} of a row is in large values: {names}")
    if repeats is None:
        reason = table.problem or "no statistics of its columns, and no sample"
        yield Exclusion("no-statistics", reason)
    elif repeats < LEAST_REPEATED:
        yield Exclusion("distinct", f"only {percent(repeats)} of its bytes are repeated values")


def changed_a_day(table: TableColumns, counted_s: float | None) -> float | None:
    """Rows updated or deleted a day, as a share of the table. Less than a day counts as one."""
    if table.changed is None or counted_s is None or not table.rows:
        return None
    return table.changed / table.rows / max(1.0, counted_s / _DAY_S)


def repeated(table: TableColumns) -> tuple[float | None, bool]:
    """Share of the bytes of a row in values that repeat, and whether it is of the sample alone.

    A column of ``rows`` rows with ``distinct`` values repeats in 1 - distinct / rows of them; or in
    the rows of its most common values, if those are more. Columns count by their width. Large
    values are left out.
    """
    total = weighted = 0.0
    sampled = False
    for column in table.columns:
        if column.large:
            continue
        share, of_sample = _repeats(column, table.of_rows or table.rows, table.built)
        width = column.width
        if width is None and table.built is not None:
            width = table.built.widths.get(column.name)
        if share is None or not width:
            continue
        sampled = sampled or of_sample
        total += width
        weighted += width * share
    return (weighted / total if total else None), sampled


def _repeats(
    column: StoredColumn, rows: int | None, sample: Built | None
) -> tuple[float | None, bool]:
    if column.distinct is not None and rows:
        return min(1.0, max(0.0, 1 - column.distinct / rows, column.common or 0.0)), False
    if sample is not None and column.name in sample.distinct:
        return max(0.0, 1 - sample.distinct[column.name] / sample.rows), True
    return column.common, False


def large_share(table: TableColumns) -> float | None:
    """Share of the bytes of a row in large values; None if their widths are unknown."""
    known = [one.width for one in table.columns]
    if not known or any(width is None for width in known):
        return None
    total = sum(one.width or 0.0 for one in table.columns)
    return sum(one.width or 0.0 for one in table.columns if one.large) / total if total else None


def _ratio(table: TableColumns) -> float | None:
    """Expected compression of the columns that the sample has."""
    if table.built is None or not table.rows or not table.bytes:
        return None
    left_out = sum(one.width or 0.0 for one in table.columns if one.large)
    row = table.bytes / table.rows - left_out
    return compression(row, table.built) if row > 0 else None
