"""A sliding window of PostgreSQL: ``ATTACH PARTITION`` and ``DETACH PARTITION``."""

from __future__ import annotations

from psycopg import sql

from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.maintenance import Connect
from dyno.targets.window import COLUMN, WINDOW, SlidingWindow, slice_name


def sliding_window(connect: Connect, workload: str) -> PostgresWindow | str:
    """The window, or why it has no rows to fill it."""
    found = PostgresWindow(connect, workload)
    if found.source:
        return found
    found.close()
    return "all tables of this layout are partitioned; it copies rows of one that is not"


class PostgresWindow(SlidingWindow[PostgresConnection]):
    """Implements the protocol. A check constraint spares the scan when a partition is attached."""

    target = "postgresql"
    method = (
        "per partition: CREATE TABLE and INSERT … SELECT with a check of its bounds, ATTACH "
        "PARTITION, and once it is old DETACH PARTITION and DROP TABLE"
    )

    def sizes(self) -> dict[str, int]:
        """See the base class."""
        return ddl.sizes(self._session, self._place)

    def quoted(self, name: str) -> str:
        """See the base class."""
        return sql.Identifier(name).as_string()  # also once the session is closed

    def create(self) -> None:
        """See the base class."""
        column = self.quoted(COLUMN)
        self.run_sql(
            f"CREATE TABLE {self.named(WINDOW)} (LIKE {self.named(self.source)}, "
            f"{column} int NOT NULL) PARTITION BY RANGE ({column})"
        )
        self._mark(WINDOW)

    def fill(self, number: int) -> None:
        """See the base class."""
        name = slice_name(number)
        self.run_sql(f"CREATE TABLE {self.named(name)} (LIKE {self.named(WINDOW)})")
        self._mark(name)
        self.run_sql(f"INSERT INTO {self.named(name)} {self.copied(number)}")
        self.run_sql(f"ALTER TABLE {self.named(name)} ADD CHECK ({self.quoted(COLUMN)} = {number})")

    def attach(self, number: int) -> None:
        """See the base class."""
        part = self.named(slice_name(number))
        bounds = f"FOR VALUES FROM ({number}) TO ({number + 1})"
        self.run_sql(f"ALTER TABLE {self.named(WINDOW)} ATTACH PARTITION {part} {bounds}")

    def detach(self, number: int) -> None:
        """See the base class."""
        part = self.named(slice_name(number))
        self.run_sql(f"ALTER TABLE {self.named(WINDOW)} DETACH PARTITION {part}")

    def limit(self, session: PostgresConnection) -> None:
        """See the base class."""
        session.execute("SET statement_timeout = '30s'")

    def _mark(self, name: str) -> None:
        comment = sql.Literal(self._comment).as_string(self._session.raw)
        self.run_sql(f"COMMENT ON TABLE {self.named(name)} IS {comment}")
