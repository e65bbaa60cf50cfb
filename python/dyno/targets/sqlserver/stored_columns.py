"""Columns of SQL Server's tables for advice: types, histograms, changes, first rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dyno.contracts.stored_columns import StoredColumn
from dyno.errors import DynoError, TargetError
from dyno.targets.sampled import as_table
from dyno.targets.sqlserver.columns import HISTOGRAM, HISTOGRAM_VIEW, declared
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.sqlserver.histogram import Step, common, distinct
from dyno.targets.sqlserver.inside.views import Views

if TYPE_CHECKING:
    import pyarrow as pa

_PART = r"\[((?:[^\]]|\]\])+)\]"
_NAME = re.compile(rf"(?:{_PART}\.)?{_PART}\.{_PART}")
_LARGE = {"text", "ntext", "image", "xml", "geometry", "geography", "json", "sql_variant", "vector"}
COLUMNS = """SELECT c.name, y.name, c.max_length, c.precision, c.scale,
CASE WHEN EXISTS (SELECT 1 FROM sys.indexes AS i JOIN sys.index_columns AS x
ON x.object_id = i.object_id AND x.index_id = i.index_id WHERE i.object_id = c.object_id
AND i.is_primary_key = 1 AND x.column_id = c.column_id) THEN 1 ELSE 0 END
FROM sys.columns AS c JOIN sys.types AS y ON y.user_type_id = c.user_type_id
WHERE c.object_id = OBJECT_ID({table}) ORDER BY c.column_id"""
CHANGED = """SELECT SUM(o.leaf_update_count + o.leaf_delete_count + o.leaf_ghost_count)
FROM sys.dm_db_index_operational_stats(DB_ID(), OBJECT_ID({table}), NULL, NULL) AS o
WHERE o.index_id IN (0, 1)"""
_BABELFISH = "Babelfish has no column stores; SQL Server has"


class SqlServerColumns:
    """Implements the protocol."""

    sql = "tsql"

    def __init__(self, session: Session) -> None:
        """Takes over the session."""
        self._session = session

    def close(self) -> None:
        """Closes the session."""
        self._session.close()

    def columns(self, table: str) -> list[StoredColumn]:
        """The columns of a table (see the protocol)."""
        named = literal(_checked(table))
        steps = self._steps(named)
        found: list[StoredColumn] = []
        for name, kind, length, precision, scale, key in self._session.execute(
            COLUMNS.format(table=named)
        ).rows:
            own = steps.get(str(name), [])
            base, size = str(kind).lower(), int(length)
            found.append(
                StoredColumn(
                    str(name),
                    declared(base, size, int(precision), int(scale)),
                    distinct=distinct(own) if own else None,
                    common=sum(common(own).values()) if own else None,
                    key=bool(key),
                    large=base in _LARGE or size < 0,
                )
            )
        return found

    def changed(self, table: str) -> int | None:
        """Rows updated or deleted since the counters of the table began (see the protocol)."""
        try:
            found = self._session.execute(CHANGED.format(table=literal(_checked(table)))).rows
        except DynoError as error:
            if not error.is_refusal:
                raise
            return None
        return None if not found or found[0][0] is None else int(found[0][0])

    def sample(self, table: str, names: Sequence[str], rows: int) -> pa.Table:
        """The first rows that the server reads; others would cost a scan (see the protocol)."""
        listed = ", ".join(map(quoted, names))
        found = self._session.execute(
            f"SELECT TOP ({int(rows)}) {listed} FROM {_checked(table)}"  # noqa: S608  (quoted)
        )
        return as_table(names, found.rows)

    def column_store(self) -> str:
        """What the server needs to store columns (see the protocol)."""
        return _BABELFISH if self._session.version.is_babelfish else ""

    def _steps(self, named: str) -> dict[str, list[Step]]:
        """Steps of the first statistics of each column, without that of NULLs."""
        rows = Views().rows(self._session, HISTOGRAM_VIEW, HISTOGRAM.format(table=named)) or ()
        found: dict[str, tuple[int, list[Step]]] = {}
        for number, column, high, below, at, different in rows:
            first, own = found.setdefault(str(column), (int(number), []))
            if int(number) == first and high is not None:
                own.append(Step(str(high), float(below), float(at), float(different)))
        return {column: steps for column, (_, steps) in found.items()}


def _checked(table: str) -> str:
    if _NAME.fullmatch(table) is None:
        raise TargetError(f"{table} is not the name of a table.", kind="database")
    return table
