"""Rebuilds, reorganises and statistics of indexes, largest first.

Source: Microsoft, "ALTER INDEX (Transact-SQL)", "Editions and supported features of SQL Server".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.targets.sqlserver.connection import Session, quoted
from dyno.targets.sqlserver.inside.performance import PAGE
from dyno.targets.sqlserver.version import Version
from dyno.targets.sqlserver.work import Work

INDEXES = """SELECT s.name, t.name, i.name, i.type, SUM(a.total_pages),
MAX(CASE d.type WHEN 'PS' THEN 1 ELSE 0 END)
FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id
JOIN sys.indexes AS i ON i.object_id = t.object_id
JOIN sys.data_spaces AS d ON d.data_space_id = i.data_space_id
JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
JOIN sys.allocation_units AS a ON a.container_id = p.partition_id
WHERE t.is_ms_shipped = 0 AND i.type IN (1, 2, 5, 6) AND i.is_disabled = 0
GROUP BY s.name, t.name, i.name, i.type ORDER BY 5 DESC, 1, 2, 3"""
"""Clustered, nonclustered, and those of columns; the work on a clustered index is that on its
table. The last column is whether it is on a partition scheme.
"""
_COLUMNS = (5, 6)
ORDERED = """SELECT DISTINCT s.name, t.name FROM sys.index_columns AS c
JOIN sys.tables AS t ON t.object_id = c.object_id
JOIN sys.schemas AS s ON s.schema_id = t.schema_id WHERE c.column_store_order_ordinal > 0"""
"""Tables with an ordered column store; servers before 2022 lack the column."""
_COLUMNS_ONLINE = 15
"""SQL Server 2019 is the first that builds indexes online on a table with a column store."""
_ORDERED_OFFLINE = 16
"""SQL Server 2022, the first with ordered column stores; 2025 builds them online."""
_ONLINE = ("Enterprise", "Developer", "Evaluation")
"""Editions that rebuild online, with Azure's service."""


class Index(NamedTuple):
    """An index with its size in bytes, and whether it is partitioned."""

    schema: str
    table: str
    name: str
    kind: int
    bytes: int
    partitioned: bool = False

    @property
    def columnar(self) -> bool:
        """Whether it stores columns."""
        return self.kind in _COLUMNS

    @property
    def of_table(self) -> str:
        """Its table, quoted."""
        return f"{quoted(self.schema)}.{quoted(self.table)}"


def indexes(session: Session) -> list[Index]:
    """The indexes of the current database, the largest first.

    Raises:
        DynoError: If they cannot be read.
    """
    return [
        Index(str(place), str(table), str(name), int(kind), int(pages or 0) * PAGE, bool(cut))
        for place, table, name, kind, pages, cut in session.execute(INDEXES).rows
    ]


def rebuilds_online(version: Version) -> bool:
    """Whether an edition can rebuild an index while it is used."""
    return version.is_cloud or version.edition.startswith(_ONLINE)


def offline_tables(session: Session, found: Sequence[Index]) -> set[str]:
    """Tables none of whose indexes this version rebuilds online, quoted.

    Raises:
        DynoError: If they cannot be read.
    """
    version = session.version
    if version.is_cloud:
        return set()
    if version.number[0] < _COLUMNS_ONLINE:
        return {one.of_table for one in found if one.columnar}
    if version.number[0] != _ORDERED_OFFLINE:
        return set()
    rows = session.execute(ORDERED).rows
    return {f"{quoted(str(place))}.{quoted(str(table))}" for place, table in rows}


class Rebuild(Work):
    """``ALTER INDEX … REBUILD``: a new copy of each index, online where the edition can.

    A rebuild reads every row for the statistics of the index; that of a partitioned one takes a
    sample, which would replace those of the load.
    """

    name = "reindex"
    VERB = "rebuilt"

    def _prepare(self) -> None:
        self._read()
        largest = max((one.bytes for one in self._indexes), default=0)
        self.estimate = SpaceEstimate(largest, "one more copy of the largest index")
        count = f"{len(self._indexes)} indexes"
        self.method = f"ALTER INDEX … REBUILD of {count}, largest first; {self._how()}"
        if cut := sum(one.partitioned and not one.columnar for one in self._indexes):
            self.method += f"; then UPDATE STATISTICS … WITH FULLSCAN of {cut} partitioned"

    def statements(self, index: Index) -> list[str]:
        """The statements for an index."""
        online = "ON" if self._online and index.of_table not in self._offline else "OFF"
        found = [f"ALTER INDEX {quoted(index.name)} ON {index.of_table} REBUILD "
                 f"WITH (ONLINE = {online})"]  # fmt: skip
        if index.partitioned and not index.columnar:
            found.append(f"UPDATE STATISTICS {index.of_table} {quoted(index.name)} WITH FULLSCAN")
        return found

    def _read(self) -> None:
        self._online = rebuilds_online(self.session.version)
        self._indexes = indexes(self.session)
        self._offline = offline_tables(self.session, self._indexes) if self._online else set[str]()

    def _how(self) -> str:
        version, count = self.session.version, len(self._offline)
        if not self._online:
            edition = version.edition or "this edition"
            return f"offline, since {edition} cannot rebuild online: each table is locked meanwhile"
        if not count:
            return "ONLINE = ON"
        return (
            f"ONLINE = ON, but offline for {count} table{'s' if count > 1 else ''} with a column "
            f"store that {version} cannot rebuild online: locked meanwhile"
        )

    def _steps(self) -> Sequence[str]:
        self._read()  # they may have changed since
        self._by_name = {f"{one.table}.{one.name}": one for one in self._indexes}
        return list(self._by_name)

    def _work(self, step: str) -> Check:
        for statement in self.statements(self._by_name[step]):
            self.session.execute(statement)
        return self._check(step, self.VERB, passed=True)


class Reorganise(Rebuild):
    """``ALTER INDEX … REORGANIZE``, which is always online, and ``UPDATE STATISTICS``.

    RESAMPLE reads as many rows as the last time: all of them, for the statistics of an index. It
    removes the deleted rows that are still on the pages, compacts the pages of the leaf level
    and puts them in order. Of an index of columns it removes deleted rows and compresses open row
    groups.
    """

    name = "vacuum"
    VERB = "reorganised, statistics updated"

    def _prepare(self) -> None:
        self._read()
        self.estimate = SpaceEstimate(0, "pages are compacted in place; it writes to the log")
        self.method = (
            "ALTER INDEX … REORGANIZE and UPDATE STATISTICS … WITH RESAMPLE of "
            f"{len(self._indexes)} indexes, largest first: removes deleted rows, compacts and "
            "orders the pages of the leaf level"
        )

    def _read(self) -> None:
        self._indexes = indexes(self.session)

    def statements(self, index: Index) -> list[str]:
        """The statements for an index."""
        name = quoted(index.name)
        if index.columnar:
            return [f"ALTER INDEX {name} ON {index.of_table} REORGANIZE "
                    "WITH (COMPRESS_ALL_ROW_GROUPS = ON)"]  # fmt: skip
        return [
            f"ALTER INDEX {name} ON {index.of_table} REORGANIZE",
            f"UPDATE STATISTICS {index.of_table} {name} WITH RESAMPLE",
        ]
