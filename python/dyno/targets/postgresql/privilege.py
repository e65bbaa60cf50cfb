"""Required privileges to create tables, or to use those of another role."""

from __future__ import annotations

from psycopg import sql

from dyno.errors import TargetError
from dyno.targets import mark
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run


def require(session: PostgresConnection, server: str, workload: str, what: str = "tables") -> None:
    """Rejects a role that may not create the workload's schema, or ``what`` in it.

    Raises:
        TargetError: With the statement that grants what is missing.
    """
    place = mark.schema_of(workload)
    question = sql.SQL(
        "SELECT current_user, current_database(), "
        "has_database_privilege(current_database(), 'CREATE'), "
        "(SELECT has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE') "
        "FROM pg_namespace WHERE nspname = {})"
    )
    user, database, may_add_schemas, may_use_schema = run(
        session, [question.format(sql.Literal(place))]
    )[0]
    if may_use_schema or (may_use_schema is None and may_add_schemas):
        return
    kind, name = ("DATABASE", database) if may_use_schema is None else ("SCHEMA", place)
    rights = "CREATE" if may_use_schema is None else "USAGE, CREATE"
    grant = sql.SQL("GRANT {} ON {} {} TO {};").format(
        sql.SQL(rights), sql.SQL(kind), sql.Identifier(name), sql.Identifier(user)
    )
    raise TargetError(
        f"{server}: the role {user} has no right to create {what} for {workload}. An "
        f"administrator must run: {grant.as_string(session.raw)}",
        kind="denied",
    )


def require_use(session: PostgresConnection, server: str, workload: str) -> None:
    """Rejects a role that may not read the tables that another role has loaded.

    Raises:
        TargetError: With the statements that grant what queries and transactions need.
    """
    place = mark.schema_of(workload)
    question = sql.SQL(
        "SELECT current_user, has_schema_privilege(n.oid, 'USAGE') AND coalesce(("
        "SELECT bool_and(has_table_privilege(c.oid, 'SELECT')) FROM pg_class c "
        "WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p')), true) "
        "FROM pg_namespace n WHERE nspname = {}"
    )
    for user, may in run(session, [question.format(sql.Literal(place))]):
        if may:
            continue
        grants = sql.SQL(
            "GRANT USAGE ON SCHEMA {0} TO {1}; "
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {0} TO {1};"
        ).format(sql.Identifier(place), sql.Identifier(user))
        raise TargetError(
            f"{server}: the role {user} has no right to use the {workload} tables of "
            f"another role. Their owner must run: {grants.as_string(session.raw)}",
            kind="denied",
        )
