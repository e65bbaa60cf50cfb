"""Tables in PostgreSQL: DDL from the neutral schema, with Dyno's mark.

The physical design is PostgreSQL's default (heap, fill factor 100), so it is not tuned. Other
designs are layouts, whose effect can be measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psycopg import sql

from dyno.contracts import schema
from dyno.contracts.target import Loaded
from dyno.errors import DynoError, UsageError
from dyno.targets import journal, mark
from dyno.targets.postgresql.connection import PostgresConnection

_TYPES = {"int32": "integer", "int64": "bigint", "date": "date", "timestamp": "timestamp"}


def column_type(kind: dict[str, Any]) -> sql.SQL:
    """The type of a column, such as ``numeric(15,2)``.

    Raises:
        DynoError: If the generator's type is unknown.
    """
    match kind:
        case {"type": "decimal", "precision": int(precision), "scale": int(scale)}:
            return sql.SQL(f"numeric({precision},{scale})")  # pyright: ignore[reportArgumentType]
        case {"type": "char", "len": int(length)}:
            return sql.SQL(f"character({length})")  # pyright: ignore[reportArgumentType]
        case {"type": "varchar", "max": int(length)}:
            return sql.SQL(f"character varying({length})")  # pyright: ignore[reportArgumentType]
        case {"type": str(name)} if name in _TYPES:
            return sql.SQL(_TYPES[name])  # pyright: ignore[reportArgumentType]
        case _:
            raise DynoError(f"PostgreSQL does not support the column type {kind}.")


def create_table(place: str, table: dict[str, Any]) -> sql.Composed:
    """``CREATE TABLE`` without a key: rows load faster before it exists."""
    columns = [
        sql.SQL("{} {}{}").format(
            sql.Identifier(column["name"]),
            column_type(column["kind"]),
            sql.SQL("" if column["nullable"] else " NOT NULL"),
        )
        for column in table["columns"]
    ]
    return sql.SQL("CREATE TABLE {} ({})").format(
        sql.Identifier(place, table["name"]), sql.SQL(", ").join(columns)
    )


def to_replace(
    session: PostgresConnection,
    server: str,
    workload: str,
    parts: Sequence[str] = (),
    *,
    replace: bool,
) -> list[str]:
    """Tables to drop first (see :func:`mark.to_replace`).

    Raises:
        UsageError: Also if Dyno did not create something with the name of one of the partitions
            ``parts``.
    """
    place = mark.schema_of(workload)
    present = relations(session, place)
    gone = mark.to_replace(f"{server}, schema {place},", workload, present, replace=replace)
    taken = [
        name for name in parts if name in present and not mark.is_mark(present[name], workload)
    ]
    if taken:
        raise UsageError(
            f"{server}, schema {place}, contains tables that Dyno did not create "
            f"({', '.join(taken)}), with the names of partitions. Move them."
        )
    return gone


def replace_tables(
    session: PostgresConnection,
    workload: str,
    gone: Sequence[str],
    created: Sequence[sql.Composed],
    names: Sequence[str],
) -> None:
    """Drops tables with their load journal and creates others in their place, all or none.

    Args:
        session: A session.
        workload: The workload of the tables.
        gone: Tables to drop, with their partitions.
        created: The statements that create the new ones.
        names: All of the new ones, including partitions, to mark as Dyno's.
    """
    place = mark.schema_of(workload)
    statements = (
        []
        if _has_schema(session, place)
        else [
            sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place)),
            sql.SQL("COMMENT ON SCHEMA {} IS {}").format(
                sql.Identifier(place), sql.Literal(mark.schema_mark(workload))
            ),
        ]
    )
    # One statement, because foreign keys may connect them.
    if gone:
        tables = sql.SQL(", ").join(sql.Identifier(place, name) for name in gone)
        statements.append(sql.SQL("DROP TABLE {}").format(tables))
    statements += drop_journal(place, workload, relations(session, place))
    statements += created
    statements += _comments(place, workload, list(names), None)
    run(session, statements)


def _has_schema(session: PostgresConnection, place: str) -> bool:
    # IF NOT EXISTS would require the CREATE privilege even if the schema exists.
    query = sql.SQL("SELECT count(*) FROM pg_namespace WHERE nspname = {}")
    return run(session, [query.format(sql.Literal(place))])[0][0] > 0


def set_mark(session: PostgresConnection, workload: str, loaded: Loaded) -> None:
    """Writes Dyno's mark to the workload's tables; drops the journal when they are complete."""
    place, names = mark.schema_of(workload), schema.table_names(workload)
    gone = drop_journal(place, workload, relations(session, place)) if loaded.complete else []
    run(session, [*_comments(place, workload, names, loaded), *gone])


def drop_journal(
    place: str, workload: str, present: Mapping[str, str | None]
) -> list[sql.Composed]:
    """The statement that drops Dyno's journal of a load, if there is one."""
    if not journal.is_dynos(present.get(journal.TABLE), workload):
        return []
    return [sql.SQL("DROP TABLE {}").format(sql.Identifier(place, journal.TABLE))]


def loaded(session: PostgresConnection, workload: str) -> Loaded | None:
    """Reads Dyno's mark from the workload's tables."""
    return mark.read(relations(session, mark.schema_of(workload)), workload)


def relations(
    session: PostgresConnection, place: str, *, kinds: str = "rpvmf"
) -> dict[str, str | None]:
    """All relations of a schema, with their comments.

    Args:
        session: A session.
        place: The schema.
        kinds: Letters of ``pg_class.relkind``.
    """
    found = run(
        session,
        [
            sql.SQL(
                "SELECT c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE n.nspname = {} AND c.relkind::text = ANY ({})"
            ).format(sql.Literal(place), sql.Literal(list(kinds)))
        ],
    )
    return {str(name): comment for name, comment in found}


def sizes(session: PostgresConnection, place: str) -> dict[str, int]:
    """Bytes of each table in a schema, without its indexes."""
    found = run(
        session,
        [
            sql.SQL(
                "SELECT c.relname, pg_table_size(c.oid) FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE n.nspname = {} AND c.relkind = 'r'"
            ).format(sql.Literal(place))
        ],
    )
    return {str(name): int(size) for name, size in found}


def index_names(session: PostgresConnection, place: str) -> set[str]:
    """Names of the indexes in a schema."""
    query = sql.SQL("SELECT indexname FROM pg_indexes WHERE schemaname = {}")
    return {str(row[0]) for row in run(session, [query.format(sql.Literal(place))])}


def key_names(session: PostgresConnection, place: str) -> set[str]:
    """Names of the primary keys in a schema, which are also those of their indexes."""
    query = sql.SQL(
        "SELECT c.conname FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace "
        "WHERE n.nspname = {} AND c.contype = 'p'"
    )
    return {str(row[0]) for row in run(session, [query.format(sql.Literal(place))])}


def run(session: PostgresConnection, statements: list[sql.Composed]) -> list[tuple[Any, ...]]:
    """Runs statements, several as one transaction; returns the rows of the last one.

    Raises:
        DynoError: As :meth:`PostgresConnection.execute`.
    """
    text = "; ".join(statement.as_string(session.raw) for statement in statements)
    return session.execute(text).rows


def _comments(
    place: str, workload: str, names: list[str], state: Loaded | None
) -> list[sql.Composed]:
    text = sql.Literal(mark.write(workload, state))
    return [
        sql.SQL("COMMENT ON TABLE {} IS {}").format(sql.Identifier(place, name), text)
        for name in names
    ]
