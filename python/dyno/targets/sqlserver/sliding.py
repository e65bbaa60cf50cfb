"""A sliding window of SQL Server: ``ALTER TABLE … SWITCH`` moves a table in and a partition out.

``SPLIT RANGE`` and ``MERGE RANGE`` change the partition function only where partitions are empty,
so they move no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dyno.targets.sqlserver import ddl
from dyno.targets.sqlserver.connection import Session, literal, quoted
from dyno.targets.window import COLUMN, KEPT, SLIDES, WINDOW, SlidingWindow, slice_name

NO_SWITCH = "Babelfish has no ALTER TABLE … SWITCH"
_FOREIGN = (
    "the database has a table {} without Dyno's mark; rename it, or drop it if a killed run of an "
    "earlier version left it"
)
_ALL_PARTITIONED = "all tables of this layout are partitioned; it copies rows of one that is not"
_FUNCTION, _SCHEME = f"{WINDOW}_ranges", f"{WINDOW}_partitions"
_NAMES = (WINDOW, *map(slice_name, range(1, KEPT + SLIDES + 1)))
_LOCK_MS = 30_000

_SIZES = (
    "SELECT t.name, SUM(CAST(p.used_page_count AS bigint)) * 8192 FROM sys.tables AS t "
    "JOIN sys.dm_db_partition_stats AS p ON p.object_id = t.object_id AND p.index_id IN (0, 1, 5) "
    "WHERE t.schema_id = SCHEMA_ID(N'dbo') "
    "GROUP BY t.name HAVING MAX(p.partition_number) = 1"
)


def sliding_window(connect: Callable[[], Session], workload: str) -> SqlServerWindow | str:
    """The window, or why there is none.

    Args:
        connect: Opens a session in the workload's database.
        workload: The workload whose rows it copies.
    """
    session = connect()
    try:
        if session.version.is_babelfish:
            return NO_SWITCH
    finally:
        session.close()
    found = SqlServerWindow(connect, workload)
    reason = found.obstacle()
    if reason is None:
        return found
    found.close()
    return reason


class SqlServerWindow(SlidingWindow[Session]):
    """Implements the protocol. A check constraint proves to SWITCH that the rows fit."""

    target = "sqlserver"
    count = "COUNT_BIG(*)"  # the other one has 32 bits
    method = (
        "per partition: INSERT … WITH (TABLOCK) into a table with a check of its bounds, SPLIT "
        "RANGE and SWITCH in, and once it is old SWITCH out, MERGE RANGE and DROP TABLE"
    )

    def obstacle(self) -> str | None:
        """Why the window cannot be made; None if it can."""
        foreign = _others(ddl.relations(self._session), self._comment)
        if foreign:
            return _FOREIGN.format(foreign[0])
        return None if self.source else _ALL_PARTITIONED

    def sizes(self) -> dict[str, int]:
        """See the base class."""
        return {str(name): int(size) for name, size in self.run_sql(_SIZES)}

    def quoted(self, name: str) -> str:
        """See the base class."""
        return quoted(name)

    def named(self, name: str) -> str:
        """A quoted table, for sessions in the workload's database."""
        return f"{quoted('dbo')}.{quoted(name)}"

    def create(self) -> None:
        """See the base class."""
        self.run_sql(
            f"CREATE PARTITION FUNCTION {quoted(_FUNCTION)} (int) AS RANGE RIGHT FOR VALUES (1)"
        )
        self.run_sql(
            f"CREATE PARTITION SCHEME {quoted(_SCHEME)} AS PARTITION {quoted(_FUNCTION)} "
            "ALL TO ([PRIMARY])"
        )
        self._marked(WINDOW)
        self._cluster(WINDOW, f"{quoted(_SCHEME)} ({quoted(COLUMN)})")

    def copied(self, number: int) -> str:
        """See the base class."""
        return (
            f"INSERT INTO {self.named(slice_name(number))} WITH (TABLOCK) "  # noqa: S608
            f"SELECT TOP ({self._rows}) t.*, {number} FROM {self.named(self.source)} AS t"
        )

    def fill(self, number: int) -> None:
        """See the base class."""
        self._marked(slice_name(number))
        self.run_sql(self.copied(number))
        self._cluster(slice_name(number), quoted("PRIMARY"))
        column = quoted(COLUMN)
        self.run_sql(
            f"ALTER TABLE {self.named(slice_name(number))} ADD CONSTRAINT "
            f"{_check(number)} CHECK ({column} >= {number} AND {column} < {number + 1})"
        )

    def attach(self, number: int) -> None:
        """See the base class."""
        self.run_sql(f"ALTER PARTITION SCHEME {quoted(_SCHEME)} NEXT USED [PRIMARY]")
        self.run_sql(f"ALTER PARTITION FUNCTION {quoted(_FUNCTION)}() SPLIT RANGE ({number + 1})")
        self.run_sql(
            f"ALTER TABLE {self.named(slice_name(number))} SWITCH TO {self.named(WINDOW)} "
            f"PARTITION {_partition(number)}"
        )

    def detach(self, number: int) -> None:
        """See the base class."""
        own = self.named(slice_name(number))
        self.run_sql(f"ALTER TABLE {own} DROP CONSTRAINT {_check(number)}")
        self.run_sql(
            f"ALTER TABLE {self.named(WINDOW)} SWITCH PARTITION {_partition(number)} TO {own}"
        )
        self.run_sql(f"ALTER PARTITION FUNCTION {quoted(_FUNCTION)}() MERGE RANGE ({number})")

    def limit(self, session: Session) -> None:
        """See the base class."""
        session.execute(f"SET LOCK_TIMEOUT {_LOCK_MS}")

    def _clear(self, session: Session) -> None:
        present = ddl.relations(session)
        for name in _NAMES:
            if present.get(name) == self._comment:
                session.execute(f"DROP TABLE {self.named(name)}")
        if _others(present, self._comment):
            return  # they may use the partitions
        for kind, name in (("SCHEME", _SCHEME), ("FUNCTION", _FUNCTION)):
            session.execute(
                f"IF EXISTS (SELECT 1 FROM sys.partition_{kind.lower()}s "  # noqa: S608  (constants)
                f"WHERE name = {literal(name)}) DROP PARTITION {kind} {quoted(name)}"
            )

    def _marked(self, table: str) -> None:
        """Creates an empty table with Dyno's mark, so that a killed run leaves none without.

        The transaction locks parts of the catalog, so it copies no rows. The join keeps a column
        with IDENTITY from being one in the new table, which would refuse the copied values.
        """
        source = self.named(self.source)
        with ddl.transaction(self._session):
            self.run_sql(
                f"SELECT TOP (0) t.*, 0 AS {quoted(COLUMN)} INTO {self.named(table)} "  # noqa: S608
                f"FROM {source} AS t LEFT JOIN {source} AS u ON 1 = 0"
            )
            self.run_sql(ddl.marking(table, self._comment))

    def _cluster(self, table: str, place: str) -> None:
        """Sorts a table by the partition column, on the window's partitions or beside them."""
        self.run_sql(
            f"CREATE CLUSTERED INDEX {quoted(f'{table}_by_slice')} ON {self.named(table)} "
            f"({quoted(COLUMN)}) ON {place}"
        )


def _others(present: Mapping[str, str | None], comment: str) -> list[str]:
    return [name for name in _NAMES if name in present and present[name] != comment]


def _check(number: int) -> str:
    return quoted(f"{slice_name(number)}_range")


def _partition(number: int) -> str:
    return f"$PARTITION.{quoted(_FUNCTION)}({number})"
