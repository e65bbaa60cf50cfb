"""Columns of InnoDB's tables for advice: statistics of their indexes, changes, first rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dyno.contracts.stored_columns import StoredColumn
from dyno.errors import DynoError, TargetError
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted
from dyno.targets.sampled import as_table

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = re.compile(r"`((?:[^`]|``)+)`\.`((?:[^`]|``)+)`")
_LARGE = {
    *("blob", "mediumblob", "longblob", "text", "mediumtext", "longtext", "json"),
    *("geometry", "point", "linestring", "polygon", "geometrycollection"),
}
_COLUMNS = (
    "SELECT column_name, column_type, data_type, column_key FROM information_schema.columns "
    "WHERE table_schema = {} AND table_name = {} ORDER BY ordinal_position"
)
_DISTINCT = (
    "SELECT column_name, max(cardinality) FROM information_schema.statistics "
    "WHERE table_schema = {} AND table_name = {} AND seq_in_index = 1 GROUP BY column_name"
)
_CHANGED = (
    "SELECT count_update + count_delete FROM performance_schema.table_io_waits_summary_by_table "
    "WHERE object_schema = {} AND object_name = {}"
)
_ENGINE = (
    "SELECT count(*) FROM information_schema.engines "
    "WHERE engine = 'Columnstore' AND support IN ('YES', 'DEFAULT')"
)
_NEEDED = (
    "it needs MariaDB ColumnStore, a storage engine in MariaDB's own repository "
    "(mariadb-plugin-columnstore), which is not installed"
)
_NONE = "MySQL has no column store; DuckDB and ClickHouse have"


class MysqlColumns:
    """Implements the protocol."""

    sql = "mysql"

    def __init__(self, session: MysqlConnection) -> None:
        """Takes over the session."""
        self._session = session

    def close(self) -> None:
        """Closes the session."""
        self._session.close()

    def columns(self, table: str) -> list[StoredColumn]:
        """The columns of a table (see the protocol)."""
        named = _literals(table)
        distinct = {
            str(name): float(count)
            for name, count in self._session.execute(_DISTINCT.format(*named)).rows
            if count
        }
        return [
            StoredColumn(
                str(name),
                str(kind),
                distinct=distinct.get(str(name)),
                key=str(key) == "PRI",
                large=str(base) in _LARGE,
            )
            for name, kind, base, key in self._session.execute(_COLUMNS.format(*named)).rows
        ]

    def changed(self, table: str) -> int | None:
        """Rows updated or deleted, if ``performance_schema`` counts them (see the protocol)."""
        try:
            (enabled,) = self._session.execute("SELECT @@performance_schema").rows[0]
            if not enabled:
                return None
            found = self._session.execute(_CHANGED.format(*_literals(table))).rows
        except DynoError as error:
            if not error.is_refusal:
                raise
            return None
        return int(found[0][0]) if found else None

    def sample(self, table: str, names: Sequence[str], rows: int) -> pa.Table:
        """The first rows by primary key; others would cost a scan (see the protocol)."""
        place, name = _names(table)
        listed = ", ".join(map(quoted, names))
        found = self._session.execute(
            f"SELECT {listed} FROM {quoted(place)}.{quoted(name)} LIMIT {int(rows)}"  # noqa: S608
        )
        return as_table(names, found.rows)

    def column_store(self) -> str:
        """What the server needs to store columns (see the protocol)."""
        if int(self._session.execute(_ENGINE).rows[0][0]):
            return ""
        return _NEEDED if self._session.version.is_mariadb else _NONE


def _literals(table: str) -> tuple[str, str]:
    place, name = _names(table)
    return literal(place), literal(name)


def _names(table: str) -> tuple[str, str]:
    found = _NAME.fullmatch(table)
    if found is None:
        raise TargetError(f"{table} is not the name of a table.", kind="database")
    return found[1].replace("``", "`"), found[2].replace("``", "`")
