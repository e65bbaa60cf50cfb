"""Frozen facts on the tables of a live database that may become columnar."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dyno.contracts.stored_columns import StoredColumn
from dyno.decide.advise.columnstore.build import Built

_QUOTED = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[((?:[^\]]|\]\])*)\]')


@dataclass(frozen=True)
class TableColumns:
    """A table, with its partitions. Unknown values are None.

    Attributes:
        name: As in ``Catalog.tables``; of a partitioned table, the whole.
        bytes: Without indexes.
        columns: Empty if they cannot be read; of a partitioned table, of its largest partition.
        of_rows: Rows of the table or partition that ``columns`` and ``built`` are of.
        changed: Rows updated or deleted since the counters began.
        built: A sample in column form.
        problem: Why columns or sample are missing; a clause.
    """

    name: str
    bytes: int | None
    rows: int | None
    columns: tuple[StoredColumn, ...] = ()
    of_rows: int | None = None
    changed: int | None = None
    built: Built | None = None
    problem: str = ""


@dataclass(frozen=True)
class ColumnView:
    """What a live database knows of columns.

    Attributes:
        needs: What the server needs to store columns; empty if it can.
        sql: The dialect of its statements, as sqlglot names it.
        engine: A target that Dyno starts itself and that stores rows and columns.
        tables: The largest and the most read.
        counted_s: Seconds since the counters of changes began; None if unknown.
        free_bytes: Least available memory that the newest run of this database measured.
        run: That run; empty without one.
        sampled_by: Of a recorded database: the command that samples the live one; else empty.
    """

    needs: str
    sql: str
    engine: str
    tables: Sequence[TableColumns] = field(default_factory=tuple[TableColumns, ...])
    counted_s: float | None = None
    free_bytes: float | None = None
    run: str = ""
    sampled_by: str = ""


def plain_name(name: str) -> str:
    """A qualified name without quotes, as uses of relations have it."""

    def bare(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[1].replace('""', '"')
        if found[2] is not None:
            return found[2].replace("``", "`")
        return str(found[3]).replace("]]", "]")

    return _QUOTED.sub(bare, name)
