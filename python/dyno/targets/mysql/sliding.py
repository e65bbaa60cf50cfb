"""A sliding window of MariaDB and MySQL: ``EXCHANGE PARTITION`` switches a table in and out."""

from __future__ import annotations

from dyno.targets.mysql.connection import MysqlConnection, literal, quoted
from dyno.targets.window import COLUMN, WINDOW, SlidingWindow, slice_name

_SIZES = (
    "SELECT table_name, data_length FROM information_schema.tables "
    "WHERE table_schema = {} AND data_length IS NOT NULL"
)

_UNVALIDATED = " /*!50718 WITHOUT VALIDATION*/ /*M!110400 WITHOUT VALIDATION*/"
"""Spares the scan of the table that comes in, on servers that know it (MariaDB ignores comments of
MySQL's versions from 5.7 on)."""


class MysqlWindow(SlidingWindow[MysqlConnection]):
    """Implements the protocol."""

    target = "mysql"
    method = (
        "per partition: CREATE TABLE and INSERT … SELECT, ADD PARTITION and EXCHANGE PARTITION "
        "(WITHOUT VALIDATION on MySQL and on MariaDB from 11.4; older ones read every row), and "
        "once it is old EXCHANGE PARTITION, DROP PARTITION and DROP TABLE"
    )

    def sizes(self) -> dict[str, int]:
        """See the base class."""
        rows = self.run_sql(_SIZES.format(literal(self._place)))
        return {str(name): int(size) for name, size in rows}

    def quoted(self, name: str) -> str:
        """See the base class."""
        return quoted(name)

    def create(self) -> None:
        """See the base class."""
        self._make(WINDOW)
        self._alter(f"PARTITION BY RANGE ({quoted(COLUMN)}) (PARTITION p0 VALUES LESS THAN (1))")

    def fill(self, number: int) -> None:
        """See the base class."""
        own = slice_name(number)
        self._make(own)
        self.run_sql(f"INSERT INTO {self.named(own)} {self.copied(number)}")

    def attach(self, number: int) -> None:
        """See the base class."""
        self._alter(f"ADD PARTITION (PARTITION p{number} VALUES LESS THAN ({number + 1}))")
        self._exchange(number, _UNVALIDATED)

    def detach(self, number: int) -> None:
        """See the base class."""
        self._exchange(number, "")
        self._alter(f"DROP PARTITION p{number}")

    def _make(self, name: str) -> None:
        """Creates a table with the columns of the source, no keys, and the partition's number."""
        self.run_sql(
            f"CREATE TABLE {self.named(name)} COMMENT = {literal(self._comment)} AS SELECT t.*, 0 "  # noqa: S608
            f"AS {quoted(COLUMN)} FROM {self.named(self.source)} t LIMIT 0"
        )

    def _exchange(self, number: int, how: str) -> None:
        own = self.named(slice_name(number))
        self._alter(f"EXCHANGE PARTITION p{number} WITH TABLE {own}{how}")

    def _alter(self, what: str) -> None:
        self.run_sql(f"ALTER TABLE {self.named(WINDOW)} {what}")
