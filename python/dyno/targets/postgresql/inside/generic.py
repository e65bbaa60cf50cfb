"""Plans of the most time-consuming statements, from their texts.

The texts have parameters in place of values, so the plans are generic: those that the server would
make for unknown values. ``EXPLAIN (GENERIC_PLAN)`` makes the same from version 16 on. A prepared
statement does so in all versions, and the server refuses to prepare two statements at once. Nothing
is executed.

Planning calls functions that a text names, with the rights of the session. So only texts are
planned that the session's own role or a superuser has run.

A text does not tell the schemas of its tables. They are looked up in the schemas that were used
in the period, as far as no third party owns them. The server's identifier of a statement with
parameters contains the tables, and confirms the plan; it differs for one that was sent with
literals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, closing

import psycopg
from psycopg import sql

from dyno.contracts.inspection import StatementUse
from dyno.contracts.plans import QueryPlan
from dyno.contracts.target import QueryResult
from dyno.errors import DatabaseError, DynoError
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.inside.observer import NAME, rows
from dyno.targets.postgresql.inside.statements import MOST_TEXT
from dyno.targets.postgresql.plans import shown
from dyno.targets.statementplans import OF_ONE, Planned, planned

_SETTINGS = {
    "default_transaction_read_only": "on",
    "lock_timeout": "500ms",
    "plan_cache_mode": "force_generic_plan",
    "statement_timeout": "2s",
}
_PREPARED = "dyno_plan"
_MOST_SCHEMAS = 4
_SCHEMAS = """SELECT nspname AS name FROM pg_namespace JOIN pg_roles r ON r.oid = nspowner
WHERE nspname = ANY(%(names)s) AND (rolname = current_user OR rolsuper)
ORDER BY array_position(%(names)s::name[], nspname)"""
_PARAMETERS = f"""SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements
WHERE name = '{_PREPARED}'"""  # noqa: S608  (a fixed name)

_PLANNABLE = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(?:SELECT|INSERT|UPDATE|DELETE|MERGE|VALUES|WITH|TABLE)\b",
    re.IGNORECASE | re.DOTALL,
)
"""All others are utility statements."""
_TYPED = re.compile(
    r"\b(date|time|timestamp|timestamptz|interval)\s+(\$\d+)"
    r"(\s+(?:year|month|day|hour|minute|second)\b)?",
    re.IGNORECASE,
)
"""A literal with its type, where the grammar allows no parameter."""

_KIND = "generic plan, for unknown values of the parameters"
_OTHERS = (
    "other roles ran them, and planning calls functions with the rights of the role that asks; "
    "connect Dyno as the role that runs the statements"
)
_LONG = f"their texts are longer than {MOST_TEXT:,} characters"
_ALIKE = "the same text was run on the tables of several schemas"


def with_plans(
    connect: Callable[[], PostgresConnection],
    uses: Sequence[StatementUse],
    trusted: Collection[str],
    schemas: Sequence[str],
) -> Planned:
    """Plans the most time-consuming statements, in a session of its own.

    Args:
        connect: Opens a session.
        uses: The statements.
        trusted: Those that may be planned.
        schemas: Where their tables may be, the most probable schema first.
    """
    texts = Counter(use.text for use in uses)
    session: PostgresConnection | None = None
    paths: list[str] = []

    with ExitStack() as stack:

        def explained(use: StatementUse) -> str:
            nonlocal session, paths
            if use.statement not in trusted:
                raise DatabaseError(_OTHERS)
            if len(use.text) >= MOST_TEXT:
                raise DatabaseError(_LONG)
            if session is None:
                opened = stack.enter_context(closing(connect()))
                for name, value in _SETTINGS.items():
                    _set(opened, name, value)
                paths, session = _paths(opened, schemas), opened
            plan = _plan(session, use, paths, unique=texts[use.text] == 1)
            return f"{_KIND}\n{plan.text}"

        return planned(uses, lambda use: _PLANNABLE.match(use.text) is not None, explained)


def _paths(session: PostgresConnection, schemas: Sequence[str]) -> list[str]:
    """The search paths to try, in this order."""
    (usual,) = rows(session, "SELECT current_setting('search_path') AS path")
    own = rows(session, _SCHEMAS, {"names": list(schemas)})[:_MOST_SCHEMAS]
    names = [sql.Identifier(row["name"]).as_string(session.raw) for row in own]
    return [", ".join(filter(None, (name, usual["path"]))) for name in (*names, "")]


def _plan(
    session: PostgresConnection, use: StatementUse, paths: Sequence[str], *, unique: bool
) -> QueryPlan:
    """The plan of a statement, which must be confirmed if it is not the only one of its text.

    Raises:
        DynoError: If it cannot be planned under any path, or the server does not respond.
    """
    plans: list[QueryPlan] = []
    failed: list[DynoError] = []
    for path in paths:
        _set(session, "search_path", path)
        try:
            plan = _explained(session, use.text)
        except DynoError as error:
            if error.kind not in OF_ONE:
                raise
            failed.append(error)
            continue
        if str(plan.tree[0].get("Query Identifier")) == use.statement:
            return plan
        plans.append(plan)
    if not plans:
        raise failed[0]
    if not unique:
        raise DatabaseError(_ALIKE)
    return plans[0]


def _set(session: PostgresConnection, name: str, value: str) -> None:
    question = "SELECT set_config(%(name)s, %(value)s, false) AS value"
    rows(session, question, {"name": name, "value": value})


def _explained(session: PostgresConnection, text: str) -> QueryPlan:
    """The generic plan of a statement with parameters."""
    text = _TYPED.sub(r"CAST(\2 AS \1\3)", text)
    _sent(session, f"PREPARE /* {NAME} */ {_PREPARED} AS {text}")
    try:
        (found,) = rows(session, _PARAMETERS)
        nulls = ", ".join(["NULL"] * found["count"])
        call = f"{_PREPARED} ({nulls})" if nulls else _PREPARED
        answer = _sent(session, f"EXPLAIN /* {NAME} */ (VERBOSE, FORMAT JSON) EXECUTE {call}")
    finally:
        _sent(session, f"DEALLOCATE /* {NAME} */ {_PREPARED}")
    return shown(answer)


def _sent(session: PostgresConnection, statement: str) -> QueryResult:
    """The answer to one statement; two at once are an error in the extended protocol."""
    try:
        with session.raw.cursor() as cursor:
            cursor.execute(statement.encode(), prepare=False, binary=True)
            return QueryResult([], cursor.fetchall() if cursor.description else [])
    except psycopg.Error as error:
        raise session.error(error) from error
