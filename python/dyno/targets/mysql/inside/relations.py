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
    """The counters of a table or index; ``time_ps`` of the reads is None if it is not counted."""

    reads: int = 0
    writes: int = 0
    time_ps: int | None = None


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
            found[str(place), str(table), ""] = Counted(int(reads), int(writes))
        for place, table, index, reads in session.execute(_USER_INDEXES).rows:
            if index not in _OWN:
                found[str(place), str(table), ""].reads -= int(reads)
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
    found: list[RelationUse] = []
    for (place, table, index), now in after.items():
        then = before.get((place, table, index), Counted())
        if then.reads > now.reads or then.writes > now.writes:
            then = Counted()
        reads, writes = now.reads - then.reads, now.writes - then.writes
        if not (reads or writes):
            continue
        time_ps = None if now.time_ps is None else max(0, now.time_ps - (then.time_ps or 0))
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
