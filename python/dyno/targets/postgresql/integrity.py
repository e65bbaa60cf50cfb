"""Online integrity checks of PostgreSQL's tables and indexes.

Uses the extension amcheck if the server has it. Otherwise statements read everything through the
table and through each index in one snapshot, and both must match.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from typing import Any

import psycopg
from psycopg import sql

from dyno.bundle.model import Check
from dyno.contracts.maintenance import SpaceEstimate
from dyno.contracts.target import Progress
from dyno.errors import DynoError, Interrupted
from dyno.targets.postgresql import ddl
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run
from dyno.targets.postgresql.maintenance import Connect, Index, Work, indexes

_DAMAGE = {"XX001", "XX002"}
"""SQLSTATEs of damaged data and indexes (manual, appendix A); checksum failures use the first."""

_READS_ONLY = "the check only reads; it does not sort, and its filters stay in memory"


def integrity_check(connect: Connect, workload: str, *, quick: bool = False) -> Amcheck | Scan:
    """The most thorough check that this server and this user's privileges allow.

    With ``quick``, of the structure only: indexes are not compared with the rows.
    """
    check = Amcheck(connect, workload, quick=quick)
    try:
        reason = check.prepare()
    except BaseException:
        check.close()
        raise
    if reason is None:
        return check
    check.close()
    return Scan(connect, workload, reason, quick=quick)


class _UnprovenError(Exception):
    """An index that could not be checked; the message is the reason."""


class _Integrity(Work, ABC):
    """Base of both checks: tables and indexes of the workload; damage becomes failed checks."""

    estimate = SpaceEstimate(0, _READS_ONLY)

    def __init__(self, connect: Connect, workload: str, *, quick: bool = False) -> None:
        super().__init__(connect, workload)
        self._quick = quick
        self.name = "quick-check" if quick else "integrity-check"
        try:
            # Tables and partitions; what is partitioned has no rows of its own.
            self._tables = sorted(ddl.sizes(self.session, self.place))
            self._indexes = indexes(self.session, self.place)
        except BaseException:
            super().close()
            raise

    def run(self, stop: threading.Event, progress: Progress) -> list[Check]:
        """Checks every table, then every index."""
        steps: list[str | Index] = [*self._tables, *self._indexes]
        checks: list[Check] = []
        for number, step in enumerate(steps):
            name = step if isinstance(step, str) else step.name
            progress(number, len(steps), f"check of {name}")
            if stop.is_set():
                raise Interrupted("The integrity check was stopped.")
            try:
                fault = self._table(step) if isinstance(step, str) else self._index(step)
            except DynoError as error:
                if stop.is_set():
                    raise Interrupted("The integrity check was stopped.") from error
                cause = error.__cause__
                if not (isinstance(cause, psycopg.Error) and cause.sqlstate in _DAMAGE):
                    raise
                fault = str(error)
            except _UnprovenError as reason:
                checks.append(self._check(name, None, str(reason)))
                continue
            checks.append(self._check(name, fault is None, fault or self._whole(step)))
        progress(len(steps), len(steps), "")
        return checks

    def _check(self, step: str, passed: bool | None, message: str) -> Check:
        label = f"{self.name} {step}"
        return Check(name=label, target="postgresql", passed=passed, message=message)

    @abstractmethod
    def _whole(self, step: str | Index) -> str:
        """The text of a passed check of a table or index."""

    @abstractmethod
    def _table(self, table: str) -> str | None:
        """The damage of a table; None if there is none."""

    @abstractmethod
    def _index(self, index: Index) -> str | None:
        """The damage of an index; None if there is none."""


class Amcheck(_Integrity):
    """Implements the protocol. Needs the extension amcheck, which the user may have to create.

    A quick check does not look up every row of a table in its indexes (``heapallindexed``).
    """

    def __init__(self, connect: Connect, workload: str, *, quick: bool = False) -> None:
        super().__init__(connect, workload, quick=quick)
        self.method = (
            "amcheck: verify_heapam of every table, and bt_index_check of every index "
            f"{'without' if quick else 'with'} heapallindexed"
        )
        self._created = False
        self._home = ""

    def prepare(self) -> str | None:
        """Creates the extension if necessary; returns why that is impossible."""
        self._home = _home_of(self.session)
        if not self._home:
            available = self.session.execute(
                "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'"
            ).rows[0][0]
            if not available:
                return "the server does not have the extension amcheck"
            place = sql.Identifier(self.place)
            try:
                run(self.session, [sql.SQL("CREATE EXTENSION amcheck SCHEMA {}").format(place)])
            except DynoError as error:
                if error.kind == "denied":
                    return "an administrator must first run CREATE EXTENSION amcheck"
                return f"cannot create the extension amcheck: {error}"
            self._created = True
            self._home = self.place
        try:
            self._index_check("0")
        except DynoError as error:
            if error.kind == "denied":
                return "an administrator must first grant EXECUTE on the functions of amcheck"
        return None

    def close(self) -> None:
        """Drops the extension if this check created it, and ends the sessions."""
        if self._created:
            with contextlib.suppress(DynoError):
                self.session.execute("DROP EXTENSION IF EXISTS amcheck")
            self._created = False
        super().close()

    def _whole(self, step: str | Index) -> str:
        if isinstance(step, str):
            return "sound"
        if self._quick:
            return "sound; not compared with the rows of its table"
        return "sound, with an entry for every row of its table"

    def _table(self, table: str) -> str | None:
        query = sql.SQL("SELECT blkno, offnum, msg FROM {}({}::regclass) LIMIT 1").format(
            sql.Identifier(self._home, "verify_heapam"), sql.Literal(self._regclass(table))
        )
        for block, row, message in run(self.session, [query]):
            return f"damaged in block {block}, row {row}: {message}"
        return None

    def _index(self, index: Index) -> str | None:
        self._index_check(self._regclass(index.name))
        return None

    def _index_check(self, text: str) -> None:
        query = sql.SQL("SELECT {}({}::regclass, {})").format(
            sql.Identifier(self._home, "bt_index_check"),
            sql.Literal(text),
            sql.Literal(not self._quick),
        )
        run(self.session, [query])

    def _regclass(self, name: str) -> str:
        return sql.Identifier(self.place, name).as_string(self.session.raw)


class Scan(_Integrity):
    """Implements the protocol by statements; ``reason`` is why amcheck is not used."""

    def __init__(
        self, connect: Connect, workload: str, reason: str, *, quick: bool = False
    ) -> None:
        super().__init__(connect, workload, quick=quick)
        compares = (
            "compares every index with its table in one snapshot: row count and hash of the "
            "indexed columns"
        )
        reads = "every entry of every index, without a comparison"
        self.method = f"reads every row, and {reads if quick else compares} ({reason})"
        try:
            # A sort would hide which index was used, and spill.
            for name in ("seqscan", "sort", "incremental_sort", "bitmapscan"):
                self.session.execute(f"SET enable_{name} = off")
            self.session.execute("SET max_parallel_workers_per_gather = 0")
        except BaseException:
            self.close()
            raise

    def _whole(self, step: str | Index) -> str:
        return "read in full" if self._quick or isinstance(step, str) else "matches its table"

    def _table(self, table: str) -> str | None:
        run(self.session, [_digest(sql.SQL("t.*"), sql.SQL("{} t").format(self._place(table)))])
        return None

    def _index(self, index: Index) -> str | None:
        columns = sql.SQL(", ").join(map(sql.Identifier, self._columns(index.name)))
        place = self._place(index.table)
        row = sql.SQL("ROW({})").format(columns)
        ordered = sql.SQL("(SELECT {} FROM {} ORDER BY {}) s").format(columns, place, columns)
        by_index, by_table = _digest(row, ordered), _digest(row, place)
        run(self.session, [sql.SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").format()])
        try:
            self._require(index, by_index)
            inside = run(self.session, [by_index])[0]
            if self._quick:
                return None
            run(self.session, [_setting("seqscan", "on"), _setting("indexscan", "off")])
            run(self.session, [_setting("indexonlyscan", "off")])
            outside = run(self.session, [by_table])[0]
        finally:
            # Local settings end with the transaction.
            run(self.session, [sql.SQL("ROLLBACK").format()])
        if inside == outside:
            return None
        return f"{inside[0]:,} rows by the index, {outside[0]:,} by the table, or other values"

    def _require(self, index: Index, statement: sql.Composed) -> None:
        """Verifies that the plan reads this index, not another one with the same first columns."""
        plan = run(self.session, [sql.SQL("EXPLAIN (FORMAT JSON) {}").format(statement)])[0][0]
        if index.name not in _used(plan):
            raise _UnprovenError(f"skipped: no query plan reads {index.table} through it")

    def _place(self, name: str) -> sql.Identifier:
        return sql.Identifier(self.place, name)

    def _columns(self, name: str) -> list[str]:
        query = sql.SQL(
            "SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = {} AND c.relname = {} AND a.attnum > 0 ORDER BY a.attnum"
        ).format(sql.Literal(self.place), sql.Literal(name))
        return [str(found[0]) for found in run(self.session, [query])]


def _used(plan: Any) -> set[str]:
    """Names of the indexes in a plan from ``EXPLAIN (FORMAT JSON)``."""
    if isinstance(plan, list):
        return {name for item in plan for name in _used(item)}
    if not isinstance(plan, dict):
        return set()
    own = {str(plan["Index Name"])} if "Index Name" in plan else set[str]()
    return own | _used(plan.get("Plan")) | _used(plan.get("Plans"))


def _setting(name: str, value: str) -> sql.Composed:
    return sql.SQL("SELECT set_config({}, {}, true)").format(
        sql.Literal(f"enable_{name}"), sql.Literal(value)
    )


def _digest(row: sql.Composable, source: sql.Composable) -> sql.Composed:
    """Row count and the sum of row hashes, which is independent of row order."""
    return sql.SQL("SELECT count(*), sum(hash_record({})::bigint) FROM {}").format(row, source)


def _home_of(session: PostgresConnection) -> str:
    found = session.execute(
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        "WHERE e.extname = 'amcheck'"
    ).rows
    return str(found[0][0]) if found else ""
