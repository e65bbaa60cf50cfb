"""A sliding window of PostgreSQL: ``ATTACH PARTITION`` and ``DETACH PARTITION``."""

from __future__ import annotations

import contextlib

from psycopg import sql

from dyno.contracts import schema
from dyno.contracts.maintenance import SpaceEstimate
from dyno.errors import DynoError
from dyno.targets import mark, window
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.maintenance import Connect


def sliding_window(connect: Connect, workload: str) -> PostgresWindow | str:
    """The window, or why it has no rows to fill it."""
    found = PostgresWindow(connect, workload)
    if found.source:
        return found
    found.close()
    return "all tables of this layout are partitioned; it copies rows of one that is not"


class PostgresWindow(window.SlidingWindow):
    """Implements the protocol. A check constraint spares the scan when a partition is attached.

    Attributes:
        source: The largest table that is not partitioned; its rows fill the partitions.
    """

    target = "postgresql"
    method = (
        "per partition: CREATE TABLE and INSERT … SELECT with a check of its bounds, ATTACH "
        "PARTITION, and once it is old DETACH PARTITION and DROP TABLE"
    )

    def __init__(self, connect: Connect, workload: str) -> None:
        super().__init__()
        self._session: PostgresConnection = connect()
        self._connect = connect
        self._workload, self._place = workload, mark.schema_of(workload)
        try:
            sizes = ddl.sizes(self._session, self._place)
            names = [name for name in schema.table_names(workload) if name in sizes]
            self.source = max(names, key=lambda name: sizes[name], default="")
            self._rows = 0
            largest = sizes.get(self.source, 0)
        except BaseException:
            self.close()
            raise
        # The window and one partition that is being filled.
        size = largest * (window.KEPT + 1) // window.SHARE
        self.estimate = SpaceEstimate(
            size, f"{window.KEPT + 1} partitions with 1/{window.SHARE} of {self.source} each"
        )

    def create(self) -> int:
        """See the base class."""
        table = self._named(self.source)
        count = sql.SQL("SELECT count(*) FROM {}").format(table)
        self._rows = max(1, int(ddl.run(self._session, [count])[0][0]) // window.SHARE)
        made = sql.SQL("CREATE TABLE {} (LIKE {}, {} int NOT NULL) PARTITION BY RANGE ({})")
        column = sql.Identifier(window.COLUMN)
        self._run(made.format(self._named(window.WINDOW), table, column, column))
        self._mark(window.WINDOW)
        return self._rows

    def fill(self, number: int) -> None:
        """See the base class."""
        own, column = self._named(window.slice_name(number)), sql.Identifier(window.COLUMN)
        self._run(sql.SQL("CREATE TABLE {} (LIKE {})").format(own, self._named(window.WINDOW)))
        self._mark(window.slice_name(number))
        self._run(
            sql.SQL("INSERT INTO {} SELECT t.*, {} FROM {} t LIMIT {}").format(
                own, sql.Literal(number), self._named(self.source), sql.Literal(self._rows)
            )
        )
        check = sql.SQL("ALTER TABLE {} ADD CHECK ({} = {})")
        self._run(check.format(own, column, sql.Literal(number)))

    def attach(self, number: int) -> None:
        """See the base class."""
        text = sql.SQL("ALTER TABLE {} ATTACH PARTITION {} FOR VALUES FROM ({}) TO ({})")
        bounds = sql.Literal(number), sql.Literal(number + 1)
        own = self._named(window.slice_name(number))
        self._run(text.format(self._named(window.WINDOW), own, *bounds))

    def detach(self, number: int) -> None:
        """See the base class."""
        text = sql.SQL("ALTER TABLE {} DETACH PARTITION {}")
        own = self._named(window.slice_name(number))
        self._run(text.format(self._named(window.WINDOW), own))

    def drop(self, number: int) -> None:
        """See the base class."""
        self._run(sql.SQL("DROP TABLE {}").format(self._named(window.slice_name(number))))

    def counted(self) -> tuple[int, int, int]:
        """See the base class."""
        column = sql.Identifier(window.COLUMN)
        text = sql.SQL("SELECT count(*), min({}), max({}) FROM {}")
        query = text.format(column, column, self._named(window.WINDOW))
        count, first, last = ddl.run(self._session, [query])[0]
        return int(count), int(first or 0), int(last or 0)

    def clear(self) -> None:
        """See the base class."""
        self._clear(self._session)

    def space(self) -> int | None:
        """None: the space is the estimate's, and is not sampled."""
        return None

    def cancel(self) -> None:
        """See the protocol."""
        self._session.cancel()

    def close(self) -> None:
        """Drops what a stopped run left, and ends the session."""
        self._session.close()
        # The working session may still be busy, or broken.
        with contextlib.suppress(DynoError), contextlib.closing(self._connect()) as session:
            session.execute("SET statement_timeout = '30s'")
            self._clear(session)

    def _clear(self, session: PostgresConnection) -> None:
        numbers = range(1, window.KEPT + window.SLIDES + 1)
        for name in (window.WINDOW, *map(window.slice_name, numbers)):
            ddl.run(session, [sql.SQL("DROP TABLE IF EXISTS {}").format(self._named(name))])

    def _mark(self, name: str) -> None:
        comment = sql.Literal(f"{mark.PREFIX}{self._workload} window")
        self._run(sql.SQL("COMMENT ON TABLE {} IS {}").format(self._named(name), comment))

    def _named(self, name: str) -> sql.Identifier:
        return sql.Identifier(self._place, name)

    def _run(self, statement: sql.Composed) -> None:
        ddl.run(self._session, [statement])
