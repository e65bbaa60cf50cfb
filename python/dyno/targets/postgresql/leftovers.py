"""Keys and indexes that an interrupted load left on the tables of a layout."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import sql

from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run


def remove(session: PostgresConnection, place: str, tables: Sequence[str]) -> None:
    """Drops all foreign keys, primary keys and indexes of ``tables``, all or none.

    The steps of a layout depend on each other: an index sorts the rows, and a partitioned table's
    index attaches those of its partitions. So they start again from tables without indexes.
    """
    names = sql.SQL(", ").join(map(sql.Literal, tables))
    constraints = sql.SQL(
        "SELECT t.relname, c.conname FROM pg_constraint c "
        "JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
        "WHERE n.nspname = {} AND t.relname IN ({}) AND c.contype IN ('f', 'p') "
        "AND c.conparentid = 0 ORDER BY c.contype = 'p', t.relname"
    ).format(sql.Literal(place), names)
    indexes = sql.SQL(
        "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid "
        "JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
        "WHERE n.nspname = {} AND t.relname IN ({}) AND NOT i.relispartition "
        "AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.oid)"
    ).format(sql.Literal(place), names)
    statements = [
        sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(
            sql.Identifier(place, table), sql.Identifier(name)
        )
        for table, name in run(session, [constraints])
    ]
    statements += [
        sql.SQL("DROP INDEX {}").format(sql.Identifier(place, name))
        for (name,) in run(session, [indexes])
    ]
    if statements:
        run(session, statements)
