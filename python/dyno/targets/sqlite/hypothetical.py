"""Hypothetical indexes in SQLite: the planner on a copy of the schema in memory, without rows.

The copy has the statistics of the file (``sqlite_stat1``). Those of a new index come from a sample
of the rows of its table, as in the shell's ``.expert`` (https://www.sqlite.org/cli.html, 18).
SQLite shows no costs: an index is used, or it is not.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager

from dyno.contracts.advice import IndexFacts
from dyno.contracts.hypothetical import Planned, Planner, Table, Wish
from dyno.errors import TargetError
from dyno.targets.sqlite.connection import SqliteConnection

SAMPLE = 50_000
"""Rows that the statistics of a new index come from."""
_NAME = "dyno_hypothetical_"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class CopyPlanner:
    """Implements the protocol of :mod:`dyno.contracts.hypothetical`."""

    how = "SQLite on a copy of its schema"
    dialect = "sqlite"

    def __init__(self, session: SqliteConnection, copy: sqlite3.Connection) -> None:
        self._session, self._copy = session, copy
        self._wishes: tuple[Wish, ...] = ()
        self._names: dict[str, Wish] = {}
        statements = session.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
            "ORDER BY type = 'table' DESC, rowid"
        )
        for (text,) in statements.rows:
            copy.execute(text)
        # Indexes of keys have no text: the tables made them.
        names = [str(row[0]) for row in session.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).rows]  # fmt: skip
        self._stats = self._read_stats()
        self.tables: Sequence[Table] = [self._table(name) for name in names]
        self.indexes: Sequence[IndexFacts] = [one for name in names for one in self._of(name)]
        self._samples: dict[Wish, list[int]] = {}
        self._tell([])

    def _read_stats(self) -> list[tuple[str, str | None, str]]:
        if not self._session.execute(
            "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'"
        ).rows:
            return []
        found = self._session.execute("SELECT tbl, idx, stat FROM sqlite_stat1").rows
        return [(str(row[0]), row[1], str(row[2])) for row in found]

    def _table(self, name: str) -> Table:
        columns = self._copy.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
        rows = [stat.split()[0] for table, _, stat in self._stats if table == name and stat]
        count = int(rows[0]) if rows and rows[0].isdigit() else None
        return Table(name, "", name, tuple(str(row[1]) for row in columns), count)

    def _of(self, table: str) -> list[IndexFacts]:
        found: list[IndexFacts] = []
        for row in self._copy.execute(f"PRAGMA index_list({_quoted(table)})").fetchall():
            parts = self._copy.execute(f"PRAGMA index_info({_quoted(str(row[1]))})").fetchall()
            columns = tuple(str(part[2]) for part in parts if part[2] is not None)
            needed = bool(row[2])
            end = ("WHERE a condition",) if row[4] else ()
            found.append(IndexFacts(str(row[1]), table, (*columns, *end), needed))
        key = [str(row[1]) for row in sorted(
            self._copy.execute(f"PRAGMA table_info({_quoted(table)})").fetchall(),
            key=lambda row: row[5],
        ) if row[5]]  # fmt: skip
        return [*found, IndexFacts("its key", table, tuple(key), True)] if key else found

    def plan(self, statement: str, tables: Iterable[Table], wishes: Sequence[Wish]) -> Planned:
        """The plan on the copy (see the protocol)."""
        known = list(tables)
        self._wish(tuple(wishes))
        values = [None] * len({*re.findall(r"\?\d*|[:@$]\w+", statement)})
        try:
            steps = [
                str(row[3])
                for row in self._copy.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
            ]
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise TargetError(f"SQLite: {error}") from error
        # A skip-scan, ANY(column), reads most of the index.
        searches = [step for step in steps if step.startswith("SEARCH") and "ANY(" not in step]
        used = {
            wish for name, wish in self._names.items() if any(name in step for step in searches)
        }
        # An automatic index is built anew for each execution, from the whole table.
        full = [step for step in steps if step.startswith("SCAN") or "AUTOMATIC" in step]
        aliases = {word.lower() for step in full for word in step.split()[1:3]}
        scanned = {
            table.name
            for table in known
            if {table.table.lower(), *_aliases(statement, table.table)} & aliases
        }
        return Planned(None, frozenset(used), frozenset(scanned))

    def size(self, wish: Wish) -> int | None:  # noqa: ARG002  (the copy has no rows)
        """None: the copy has no rows."""
        return None

    def define(self, wish: Wish, name: str) -> str:
        """``CREATE INDEX``."""
        columns = ", ".join(map(_quoted, wish.columns))
        return f"CREATE INDEX {_quoted(name)} ON {_quoted(wish.table)} ({columns});"

    def _wish(self, wishes: tuple[Wish, ...]) -> None:
        if wishes == self._wishes:
            return
        for name in self._names:
            self._copy.execute(f"DROP INDEX {name}")
        self._names = {f"{_NAME}{place}": wish for place, wish in enumerate(wishes)}
        for name, wish in self._names.items():
            self._copy.execute(self.define(wish, name))
        self._tell([
            (wish.table, name, " ".join(map(str, self._statistics(wish))))
            for name, wish in self._names.items()
        ])  # fmt: skip
        self._wishes = wishes

    def _tell(self, more: Sequence[tuple[str, str, str]]) -> None:
        """Gives the statistics to the planner of the copy."""
        self._copy.execute("ANALYZE sqlite_master")
        self._copy.execute("DELETE FROM sqlite_stat1")
        self._copy.executemany(
            "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", [*self._stats, *more]
        )
        self._copy.execute("ANALYZE sqlite_master")

    def _statistics(self, wish: Wish) -> list[int]:
        """Rows of the table, and rows with the same first column, first two columns, …"""
        if wish not in self._samples:
            known = next(one for one in self.tables if one.name == wish.table)
            columns = list(map(_quoted, wish.columns))
            counts: list[int] = []
            sampled = 0
            for place in range(len(columns)):
                listed = ", ".join(columns[: place + 1])
                row = self._session.execute(
                    f"SELECT sum(n), count(*) FROM (SELECT count(*) AS n FROM (SELECT {listed} "  # noqa: S608
                    f"FROM {_quoted(wish.table)} LIMIT {SAMPLE}) GROUP BY {listed})"
                ).rows[0]
                sampled = int(row[0] or 0)
                counts.append(int(row[1] or 1))
            rows = max(known.rows or sampled, 1)
            self._samples[wish] = [rows, *(same(rows, sampled, one) for one in counts)]
        return self._samples[wish]


def same(rows: int, sampled: int, distinct: int) -> int:
    """Rows of a table with the same value, from the distinct values of a sample.

    If more than a tenth of the sample is distinct, the number of values grows with the rows;
    else the sample has seen nearly all of them.
    """
    if sampled <= 0:
        return rows
    values = distinct * rows / sampled if distinct > sampled / 10 else distinct
    return max(1, round(rows / max(values, 1)))


def _aliases(statement: str, table: str) -> set[str]:
    """What a statement calls a table."""
    found = re.findall(rf"\b{re.escape(table)}\b\"?\s+(?:as\s+)?\"?(\w+)", statement, re.IGNORECASE)
    return {str(one).lower() for one in found}


@contextmanager
def planner(session: SqliteConnection) -> Generator[Planner | str]:
    """A planner for the file of a session."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        try:
            made: Planner | str = CopyPlanner(session, copy)
        except sqlite3.Error as error:
            made = f"the schema of the file cannot be copied: {error}"
        with contextlib.suppress(sqlite3.Error):
            copy.execute("PRAGMA case_sensitive_like = ON")
        yield made
