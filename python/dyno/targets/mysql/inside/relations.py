"""Rows read and written by table and index.

InnoDB does not count pages by table. ``performance_schema`` counts rows by index, and MariaDB's
user statistics by table and by index. A table's own rows are those read by its primary key, which
is the table itself, or by none. MariaDB counts only some of the rows that are
read from a partitioned table by an index, so these reads are unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dyno.contracts.inspection import MOST_ROWS, RelationUse
from dyno.targets.mysql.connection import MysqlConnection, literal

_PS_PER_MS = 1e9
_OWN = ("", "PRIMARY")
_SYSTEM = "('mysql', 'performance_schema', 'information_schema', 'sys')"

_BY_INDEX = (
    "SELECT object_schema, object_name, coalesce(index_name, ''), "  # noqa: S608  (fixed names)
    "count_fetch, count_insert + count_update + count_delete, sum_timer_fetch "
    "FROM performance_schema.table_io_waits_summary_by_index_usage "
    f"WHERE count_star > 0 AND object_schema NOT IN {_SYSTEM}"
)
_USER_TABLES = (
    "SELECT table_schema, table_name, rows_read, rows_changed "  # noqa: S608
    f"FROM information_schema.table_statistics WHERE table_schema NOT IN {_SYSTEM}"
)
_USER_INDEXES = (
    "SELECT table_schema, table_name, index_name, rows_read "  # noqa: S608
    f"FROM information_schema.index_statistics WHERE table_schema NOT IN {_SYSTEM}"
)


@dataclass
class Counted:
    """The counters of a table or index.

    Attributes:
        time_ps: Time of the reads; None if it is not counted.
        whole: Whether the reads of a table include those by its secondary indexes.
    """

    reads: int = 0
    writes: int = 0
    time_ps: int | None = None
    whole: bool = False


Name = tuple[str, str, str]
"""Schema, table, and index; an empty index for the table itself."""

Snapshot = Mapping[Name, Counted]


def read(session: MysqlConnection, *, userstat: bool) -> Snapshot:
    """The counters of all tables and indexes that were used.

    Args:
        session: A session of a user who may read them.
        userstat: Whether to read user statistics instead of ``performance_schema``.

    Raises:
        DynoError: If the user may not read them, or the server does not respond.
    """
    found: defaultdict[Name, Counted] = defaultdict(Counted)
    if userstat:
        for place, table, reads, writes in session.execute(_USER_TABLES).rows:
            found[str(place), str(table), ""] = Counted(int(reads), int(writes), whole=True)
        for place, table, index, reads in session.execute(_USER_INDEXES).rows:
            if index not in _OWN:
                found[str(place), str(table), str(index)].reads = int(reads)
        return found
    for place, table, index, reads, writes, time_ps in session.execute(_BY_INDEX).rows:
        one = found[str(place), str(table), "" if index in _OWN else str(index)]
        one.reads += int(reads)
        one.writes += int(writes)
        # Counted without a timer, the sum is 0.
        if int(time_ps) or one.time_ps is not None:
            one.time_ps = (one.time_ps or 0) + int(time_ps)
    return found


class About(NamedTuple):
    """A table: its bytes without secondary indexes, as the server estimates them."""

    bytes: int | None
    partitioned: bool


def about(session: MysqlConnection, used: Snapshot) -> dict[tuple[str, str], About]:
    """Describes the tables that were used.

    Raises:
        DynoError: If the server does not respond.
    """
    places = ", ".join(literal(place) for place in sorted({name[0] for name in used}))
    if not places:
        return {}
    rows = session.execute(
        "SELECT table_schema, table_name, data_length, create_options "  # noqa: S608  (quoted)
        f"FROM information_schema.tables WHERE table_schema IN ({places})"
    ).rows
    return {
        (str(place), str(table)): About(
            None if size is None else int(size), "partitioned" in str(options or "")
        )
        for place, table, size, options in rows
    }


def between(
    before: Snapshot, after: Snapshot, tables: Mapping[tuple[str, str], About], *, whole: bool
) -> Sequence[RelationUse]:
    """What was counted in between, with most rows first. A relation whose counts fell began anew.

    Args:
        before: The counters at the start; without an entry they were 0.
        after: The counters at the end.
        tables: Descriptions of tables; a table without one is not partitioned.
        whole: Whether the reads of partitioned tables are counted.
    """
    grown = {name: _grown(before.get(name, Counted()), now) for name, now in after.items()}
    by_index: defaultdict[tuple[str, str], int] = defaultdict(int)
    for (place, table, index), own in grown.items():
        by_index[place, table] += own.reads if index else 0
    found: list[RelationUse] = []
    for (place, table, index), own in grown.items():
        # Read one after the other, the two views differ by what was read in between.
        others = by_index[place, table] if own.whole else 0
        reads, writes, time_ps = max(0, own.reads - others), own.writes, own.time_ps
        if not (reads or writes):
            continue
        name = f"{place}.{table}"
        described = tables.get((place, table), About(None, partitioned=False))
        counted = whole or not described.partitioned
        found.append(
            RelationUse(
                relation=f"{name}.{index}" if index else name,
                kind="index" if index else "table",
                of_table=name,
                logical_reads=reads if counted else None,
                writes=writes,
                read_ms=time_ps / _PS_PER_MS if counted and time_ps is not None else None,
                bytes=None if index else described.bytes,
            )
        )
    found.sort(key=lambda use: (use.logical_reads or 0) + (use.writes or 0), reverse=True)
    return found[:MOST_ROWS]


def _grown(then: Counted, now: Counted) -> Counted:
    """What was counted in between; everything if the counters fell, as they began anew."""
    if then.reads > now.reads or then.writes > now.writes:
        then = Counted()
    time_ps = None if now.time_ps is None else max(0, now.time_ps - (then.time_ps or 0))
    return Counted(now.reads - then.reads, now.writes - then.writes, time_ps, now.whole)
