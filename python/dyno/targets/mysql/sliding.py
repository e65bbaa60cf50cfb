"""A sliding window of MariaDB and MySQL: ``EXCHANGE PARTITION`` switches a table in and out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress

from dyno.contracts import schema
from dyno.contracts.maintenance import SpaceEstimate
from dyno.errors import DynoError
from dyno.targets import mark, window
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted

_SIZES = (
    "SELECT table_name, data_length FROM information_schema.tables "
    "WHERE table_schema = {} AND data_length IS NOT NULL"
)

_UNVALIDATED = " /*!50718 WITHOUT VALIDATION*/ /*M!110400 WITHOUT VALIDATION*/"
"""Spares the scan of the table that comes in, on servers that know it (MariaDB ignores comments of
MySQL's versions from 5.7 on)."""


class MysqlWindow(window.SlidingWindow):
    """Implements the protocol."""

    target = "mysql"
    method = (
        "per partition: CREATE TABLE and INSERT … SELECT, ADD PARTITION and EXCHANGE PARTITION "
        "(WITHOUT VALIDATION on MySQL and on MariaDB from 11.4; older ones read every row), and "
        "once it is old EXCHANGE PARTITION, DROP PARTITION and DROP TABLE"
    )

    def __init__(self, connect: Callable[[], MysqlConnection], workload: str) -> None:
        super().__init__()
        self._connect, self._session = connect, connect()
        self._workload, self._place = workload, mark.schema_of(workload)
        try:
            found = self._session.execute(_SIZES.format(literal(self._place))).rows
        except BaseException:
            self._session.close()
            raise
        sizes = {str(name): int(size) for name, size in found}
        names = [name for name in schema.table_names(workload) if name in sizes]
        self._source = max(names, key=lambda name: sizes[name], default="")
        self._rows = 0
        size = sizes.get(self._source, 0) * (window.KEPT + 1) // window.SHARE
        self.estimate = SpaceEstimate(
            size, f"{window.KEPT + 1} partitions with 1/{window.SHARE} of {self._source} each"
        )

    def create(self) -> int:
        """See the base class."""
        count = self._session.execute(f"SELECT count(*) FROM {self._named(self._source)}")  # noqa: S608
        self._rows = max(1, int(count.rows[0][0]) // window.SHARE)
        self._make(window.WINDOW)
        self._session.execute(
            f"ALTER TABLE {self._named(window.WINDOW)} PARTITION BY RANGE "
            f"({quoted(window.COLUMN)}) (PARTITION p0 VALUES LESS THAN (1))"
        )
        return self._rows

    def fill(self, number: int) -> None:
        """See the base class."""
        own = window.slice_name(number)
        self._make(own)
        self._session.execute(
            f"INSERT INTO {self._named(own)} SELECT t.*, {number} "  # noqa: S608  (quoted)
            f"FROM {self._named(self._source)} t LIMIT {self._rows}"
        )

    def attach(self, number: int) -> None:
        """See the base class."""
        self._alter(f"ADD PARTITION (PARTITION p{number} VALUES LESS THAN ({number + 1}))")
        self._exchange(number, _UNVALIDATED)

    def detach(self, number: int) -> None:
        """See the base class."""
        self._exchange(number, "")
        self._alter(f"DROP PARTITION p{number}")

    def drop(self, number: int) -> None:
        """See the base class."""
        self._session.execute(f"DROP TABLE {self._named(window.slice_name(number))}")

    def counted(self) -> tuple[int, int, int]:
        """See the base class."""
        column = quoted(window.COLUMN)
        count, first, last = self._session.execute(
            f"SELECT count(*), min({column}), max({column}) "  # noqa: S608  (quoted)
            f"FROM {self._named(window.WINDOW)}"
        ).rows[0]
        return int(count), int(first or 0), int(last or 0)

    def clear(self) -> None:
        """See the base class."""
        self._clear(self._session)

    def space(self) -> int | None:
        """None: the space is the estimate's, and is not sampled."""
        return None

    def cancel(self) -> None:
        """Stops the running statement; the server rolls it back."""
        self._session.cancel()

    def close(self) -> None:
        """Drops what a stopped run left, and ends the session."""
        self._session.close()
        with suppress(DynoError), closing(self._connect()) as session:
            self._clear(session)

    def _make(self, name: str) -> None:
        """Creates a table with the columns of the source, no keys, and the partition's number."""
        comment = literal(f"{mark.PREFIX}{self._workload} window")
        self._session.execute(
            f"CREATE TABLE {self._named(name)} COMMENT = {comment} AS SELECT t.*, 0 AS "  # noqa: S608
            f"{quoted(window.COLUMN)} FROM {self._named(self._source)} t LIMIT 0"
        )

    def _exchange(self, number: int, how: str) -> None:
        own = self._named(window.slice_name(number))
        self._alter(f"EXCHANGE PARTITION p{number} WITH TABLE {own}{how}")

    def _alter(self, what: str) -> None:
        self._session.execute(f"ALTER TABLE {self._named(window.WINDOW)} {what}")

    def _clear(self, session: MysqlConnection) -> None:
        numbers = range(1, window.KEPT + window.SLIDES + 1)
        for name in (window.WINDOW, *map(window.slice_name, numbers)):
            session.execute(f"DROP TABLE IF EXISTS {self._named(name)}")

    def _named(self, name: str) -> str:
        return f"{quoted(self._place)}.{quoted(name)}"
