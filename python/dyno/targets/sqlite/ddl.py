"""Tables in SQLite: DDL from the neutral schema, with Dyno's mark.

SQLite has no decimals. For queries they are REAL, as is usual in SQLite: the neutral statements
have the same meaning, sums differ from exact ones by about 1 in 10^12, and the comparison of
answers allows 1 in 10^9. For transactions they are INTEGER, in units of the column's last digit
(cents): sums are then exact, and so are the consistency conditions, which compare amounts of the
same scale. Dates and times are ISO 8601 text, which sorts correctly.

A table with a single integer primary key is stored by it (``INTEGER PRIMARY KEY``): the key is the
table's B-tree and costs nothing if rows arrive in key order, as Dyno's do. A table that a layout
clusters is stored by those columns (``WITHOUT ROWID``).

SQLite stores the text of a CREATE TABLE, so a comment in it identifies Dyno's tables. A row of the
table ``dyno_mark`` describes their data.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded
from dyno.errors import DynoError, UsageError
from dyno.targets import mark
from dyno.targets.sqlite.connection import SqliteConnection
from dyno.targets.sqlite.layout import comes_sorted, has_rowid_key, require, stored_by

MARKS = "dyno_mark"

_TYPES = {
    "int32": "INTEGER",
    "int64": "INTEGER",
    "date": "TEXT",
    "timestamp": "TEXT",
    "char": "TEXT",
    "varchar": "TEXT",
}
_TAG = re.compile(r'CREATE TABLE "[^"]*" /\* dyno:(\w+) \*/')


def quoted(name: str) -> str:
    """A quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def exact(workload: str) -> bool:
    """Whether decimals of a workload are integer units instead of REAL."""
    found = workloads.known(workload)
    return found is not None and found.kind == "oltp"


def column_type(kind: dict[str, Any], *, exact: bool) -> str:
    """The type of a column.

    Raises:
        DynoError: If the generator's type is unknown.
    """
    match kind:
        case {"type": "decimal"}:
            return "INTEGER" if exact else "REAL"
        case {"type": str(name)} if name in _TYPES:
            return _TYPES[name]
        case _:
            raise DynoError(f"SQLite does not support the column type {kind}.")


def create_table(
    workload: str,
    table: dict[str, Any],
    layout: Layout | None = None,
    *,
    clustered: bool = False,
    name: str | None = None,
) -> str:
    """``CREATE TABLE`` with Dyno's comment.

    Args:
        workload: The workload of the table.
        table: The generator's declaration.
        layout: Its design; None for the standard one.
        clustered: Stored by the columns of the layout, for rows in their order.
        name: Another name for it.
    """
    lines: list[str] = []
    for column in table["columns"]:
        kind = column_type(column["kind"], exact=exact(workload))
        is_key = has_rowid_key(table, layout) and [column["name"]] == table["primary_key"]
        key = " PRIMARY KEY" if is_key else ""
        null = "" if column["nullable"] else " NOT NULL"
        lines.append(f"{quoted(column['name'])} {kind}{key}{null}")
    if clustered:
        lines.append(f"PRIMARY KEY ({_listed(stored_by(table, layout))})")
    if layout is not None and layout.foreign_keys:
        lines += [
            f"FOREIGN KEY ({_listed(key.columns)}) "
            f"REFERENCES {quoted(key.other)} ({_listed(key.other_columns)})"
            for key in workloads.get(workload).foreign_keys
            if key.table == table["name"]
        ]
    head = f"CREATE TABLE {quoted(name or table['name'])} /* dyno:{workload} */"
    return f"{head} ({', '.join(lines)}){' WITHOUT ROWID' if clustered else ''}"


def create_tables(
    session: SqliteConnection,
    file: Path,
    workload: str,
    *,
    replace: bool,
    layout: Layout | None = None,
) -> None:
    """Creates the workload's tables (see the protocol); drops those to replace first.

    A file with nothing else is then truncated, so that new rows do not fill the free pages of old
    ones.
    """
    tables = schema.tables(workload)
    require(layout, tables)
    _refuse_others(session, file, workload)
    # Drops all at once: after a single drop, other tables would still refer to the table.
    session.execute("PRAGMA foreign_keys = OFF")
    gone = mark.to_replace(str(file), workload, relations(session, workload), replace=replace)
    if gone:
        with transaction(session):
            for name in gone:
                session.execute(f"DROP TABLE {quoted(name)}")
            session.execute(f"DELETE FROM {MARKS} WHERE workload = {literal(workload)}")  # noqa: S608
        if not _holds_more(session):
            session.execute("VACUUM")
    with transaction(session):
        if MARKS not in _texts(session):
            session.execute(
                f"CREATE TABLE {quoted(MARKS)} /* dyno:mark */ "
                "(workload TEXT PRIMARY KEY, content TEXT NOT NULL)"
            )
        for table in tables:
            clustered = comes_sorted(table, layout)
            session.execute(create_table(workload, table, layout, clustered=clustered))
        _write(session, workload, mark.write(workload, None))


def set_mark(session: SqliteConnection, workload: str, state: Loaded) -> None:
    """Writes Dyno's mark for the workload's tables."""
    with transaction(session):
        _write(session, workload, mark.write(workload, state))


def loaded(session: SqliteConnection, workload: str) -> Loaded | None:
    """Reads Dyno's mark of the workload's tables."""
    return mark.read(relations(session, workload), workload)


def relations(session: SqliteConnection, workload: str) -> dict[str, str | None]:
    """All relations, with Dyno's mark for Dyno's tables."""
    texts = _texts(session)
    content = mark.write(workload, None)
    if _owner(texts.get(MARKS)) == "mark":
        where = f"WHERE workload = {literal(workload)}"
        rows = session.execute(f"SELECT content FROM {MARKS} {where}").rows  # noqa: S608
        content = str(rows[0][0]) if rows else content
    return {name: content if _owner(text) == workload else None for name, text in texts.items()}


def only_dynos(session: SqliteConnection) -> bool:
    """Whether Dyno created every table and view of the file."""
    rows = session.execute(
        "SELECT sql FROM sqlite_master "
        "WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'"
    ).rows
    return all(_owner(str(text)) is not None for (text,) in rows)


@contextlib.contextmanager
def transaction(session: SqliteConnection) -> Generator[None]:
    """Runs the block in a transaction."""
    session.execute("BEGIN IMMEDIATE")
    try:
        yield
        session.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(DynoError):  # some errors have already ended it
            session.execute("ROLLBACK")
        raise


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names))


def _texts(session: SqliteConnection) -> dict[str, str]:
    """SQL texts of all objects by name in lower case (names in SQLite are case-insensitive)."""
    rows = session.execute(
        "SELECT lower(name), sql FROM sqlite_master WHERE type IN ('table', 'view', 'index')"
    ).rows
    return {str(name): str(text or "") for name, text in rows}


def _owner(text: str | None) -> str | None:
    """The workload in Dyno's comment on a table."""
    found = _TAG.match(text or "")
    return None if found is None else found[1]


def _refuse_others(session: SqliteConnection, file: Path, workload: str) -> None:
    texts = _texts(session)
    if MARKS in texts and _owner(texts[MARKS]) != "mark":
        raise UsageError(
            f"{file} contains a table {MARKS} that Dyno did not create; use another file."
        )
    taken = {name: _owner(texts.get(name)) for name in schema.table_names(workload)}
    others = sorted(name for name, owner in taken.items() if owner not in {None, workload})
    if others:
        raise UsageError(
            f"{file} contains Dyno's {taken[others[0]]} tables ({', '.join(others)} are "
            f"tables of {workload} as well), and SQLite has no schemas; use another file "
            f"for {workload}."
        )


def _holds_more(session: SqliteConnection) -> bool:
    """Whether the file contains anything except marks and statistics."""
    return any(name != MARKS and not name.startswith("sqlite_") for name in _texts(session))


def _write(session: SqliteConnection, workload: str, content: str) -> None:
    session.execute(
        f"INSERT OR REPLACE INTO {MARKS} VALUES ({literal(workload)}, {literal(content)})"  # noqa: S608
    )
