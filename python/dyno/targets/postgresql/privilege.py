"""What a role must be granted before Dyno can create its tables."""

from __future__ import annotations

from psycopg import sql

from dyno.errors import TargetError
from dyno.targets import mark
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.ddl import run


def require(session: PostgresConnection, server: str, workload: str, what: str = "tables") -> None:
    """Refuses a role that may not create the workload's schema, or ``what`` in it.

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
        f"{server}: the role {user} may not create {what} for {workload}. Let an administrator "
        f"run: {grant.as_string(session.raw)}",
        kind="denied",
    )
