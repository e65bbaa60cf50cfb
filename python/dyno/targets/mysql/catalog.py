"""What advice reads of a live MariaDB or MySQL: settings, tables, indexes, counters."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from dyno.contracts.advice import Catalog, Counter, IndexFacts, Part, TableFacts
from dyno.contracts.inspection import Inspection
from dyno.errors import DynoError
from dyno.targets.mysql import columns
from dyno.targets.mysql.connection import MysqlConnection, quoted
from dyno.targets.mysql.inside import relations, statements
from dyno.targets.mysql.inside.shown import Shown

_MOST = 5000
_SYSTEM = "('mysql', 'performance_schema', 'information_schema', 'sys')"
_TABLES = (
    "SELECT table_schema, table_name, data_length, table_rows, create_options "  # noqa: S608  (fixed names)
    f"FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND engine = 'InnoDB' "
    f"AND table_schema NOT IN {_SYSTEM} ORDER BY data_length DESC, 1, 2 LIMIT {_MOST}"
)
_INDEXES = (
    "SELECT table_schema, table_name, index_name, non_unique, column_name, sub_part, index_type "  # noqa: S608
    f"FROM information_schema.statistics WHERE table_schema NOT IN {_SYSTEM} "
    f"ORDER BY 1, 2, 3, seq_in_index LIMIT {10 * _MOST}"
)
_KEYS = (
    "SELECT constraint_schema, table_name, constraint_name, column_name "  # noqa: S608
    "FROM information_schema.key_column_usage WHERE referenced_table_name IS NOT NULL "
    f"AND constraint_schema NOT IN {_SYSTEM} AND ordinal_position = 1"
)
_ANALYSED = (
    "SELECT database_name, table_name FROM mysql.innodb_table_stats",
    "SELECT db_name, table_name FROM mysql.table_stats",
)
_SIZES = "SELECT sum(data_length + index_length) FROM information_schema.tables"
_GROWING = {
    True: "SELECT max(file_size) FROM information_schema.innodb_sys_tablespaces "
    "WHERE name IN ('innodb_system', 'innodb_temporary')",
    False: "SELECT max(total_extents * extent_size) FROM information_schema.files "
    "WHERE tablespace_name IN ('innodb_system', 'innodb_temporary')",
}
_STATUS: dict[str, Counter] = {
    "innodb_os_log_written": "log_bytes",
    "max_used_connections": "connections_peak",
    "uptime": "counted_s",
}


def read(session: MysqlConnection, *, private: bool) -> Catalog:
    """Reads the catalog.

    Raises:
        DynoError: If the server does not respond.
    """
    settings = _pairs(session, "SHOW GLOBAL VARIABLES")
    shown = Shown.read(session, private=private)
    obstacles: dict[Part | Counter, str] = {}
    counters = _counters(session, obstacles)
    uses = _uses(session, shown)
    if not uses.statements and shown.notes:
        obstacles["uses"] = shown.notes[0]
    return Catalog(
        settings, _tables(session, uses), _indexes(session, uses), uses, counters, obstacles
    )


def _pairs(session: MysqlConnection, question: str) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in session.execute(question).rows}


def _named(schema: Any, table: Any) -> str:
    return f"{quoted(str(schema))}.{quoted(str(table))}"


def _tables(session: MysqlConnection, uses: Inspection) -> list[TableFacts]:
    keys = columns.keys(session)
    known = columns.read(session, keys, columns.most_read(uses))
    references = columns.references(session)
    analysed: set[tuple[str, str]] | None = set()
    for question in _ANALYSED:
        try:
            found = session.execute(question).rows
        except DynoError:  # without SELECT on mysql.*, or a product without the table
            if question == _ANALYSED[0]:
                analysed = None
                break
            continue
        analysed |= {(str(place), str(table)) for place, table in found}
    return [
        TableFacts(
            _named(place, table),
            int(size or 0),
            int(count or 0),
            analysed=None if analysed is None else (str(place), str(table)) in analysed,
            partition_of=_named(place, table) if "partitioned" in str(options) else "",
            columns=known.get((str(place), str(table)), ()),
            keys=keys.get((str(place), str(table)), {}),
            primary_key="PRIMARY",
            foreign_keys=references.get((str(place), str(table)), ()),
        )
        for place, table, size, count, options in session.execute(_TABLES).rows
    ]


def _indexes(session: MysqlConnection, uses: Inspection) -> list[IndexFacts]:
    listed: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    needed: set[tuple[str, str, str]] = set()
    for place, table, index, not_unique, column, part, kind in session.execute(_INDEXES).rows:
        name = (str(place), str(table), str(index))
        length = f"({part})" if part else ""
        listed[name].append(f"{column}{length}")
        if not int(not_unique) or kind not in ("BTREE", "HASH"):
            needed.add(name)
    # The first column of a foreign key needs an index that begins with it.
    keys = {(str(p), str(t), str(c)) for p, t, _, c in session.execute(_KEYS).rows}
    read = {one.relation: one.logical_reads for one in uses.relations if one.kind == "index"}
    return [
        IndexFacts(
            quoted(index),
            _named(place, table),
            tuple(of_it),
            (place, table, index) in needed or (place, table, of_it[0]) in keys,
            # An index that was never used is not among those that are counted.
            scans=read.get(f"{place}.{table}.{index}", 0) if read else None,
        )
        for (place, table, index), of_it in listed.items()
        if index != "PRIMARY"
    ]


def _uses(session: MysqlConnection, shown: Shown) -> Inspection:
    """Statements and relations since the server started."""
    if not (shown.counts or shown.userstat):
        return Inspection(notes=shown.notes)
    read = relations.read(session, userstat=shown.userstat)
    tables = relations.about(session, read)
    used = relations.between({}, read, tables, whole=not session.version.is_mariadb)
    called = statements.between({}, statements.read(session)) if shown.counts else ()
    return Inspection(statements.plain(called), used, shown.notes)


def _counters(
    session: MysqlConnection, obstacles: dict[Part | Counter, str]
) -> dict[Counter, float]:
    status = _pairs(session, "SHOW GLOBAL STATUS")
    found: dict[Counter, float] = {
        counter: float(status[name])
        for name, counter in _STATUS.items()
        if status.get(name, "").isdigit()
    }
    found["databases_bytes"] = float(session.execute(_SIZES).rows[0][0] or 0)
    try:
        size = session.execute(_GROWING[session.version.is_mariadb]).rows[0][0]
        if size is not None:
            found["growing_file"] = float(size)
    except DynoError as error:
        if error.kind != "denied":
            raise
        obstacles["growing_file"] = (
            "the size of the shared tablespaces needs another right; an administrator must run: "
            f"GRANT PROCESS ON *.* TO {session.account() or 'this user'};"
        )
    return found
