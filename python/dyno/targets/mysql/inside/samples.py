"""Plans of MySQL's most time-consuming statements, by ``EXPLAIN`` of its sample of each digest.

MariaDB keeps no sample of a digest, and a digest has placeholders, which ``EXPLAIN`` refuses. The
sample of a prepared statement has them as well.

The server may call stored functions to plan a statement, with the rights of the session if they are
declared so. Such functions of others would get the rights of Dyno's user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing

from dyno.contracts.inspection import StatementUse
from dyno.errors import DatabaseError
from dyno.targets.mysql.connection import MysqlConnection, literal, quoted
from dyno.targets.mysql.inside.statements import is_prepared, plain
from dyno.targets.mysql.plans import explain
from dyno.targets.statementplans import Planned, planned

_SAMPLE = (
    "SELECT query_sample_text FROM performance_schema.events_statements_summary_by_digest "
    "WHERE digest = {digest} AND schema_name <=> {schema}"
)
_CALLED = (
    "SELECT 1 FROM information_schema.routines WHERE routine_type = 'FUNCTION' "
    "AND security_type = 'INVOKER' AND routine_schema <> 'sys' AND definer <> CURRENT_USER() "
    "LIMIT 1"
)
_LIMITS = "SET SESSION max_execution_time = 2000, lock_wait_timeout = 1"
_PLANNABLE = re.compile(r"[\s(]*(?:SELECT|WITH|TABLE)\b", re.IGNORECASE)

_FUNCTIONS = (
    "the server has functions of others with SQL SECURITY INVOKER, which planning might call with "
    "the rights of Dyno's user"
)
_VALUES = (
    "some of the top statements have no plan: MySQL keeps no values of prepared statements, and "
    "EXPLAIN needs them"
)
_CUT = "the server has cut their texts; raise performance_schema_max_sql_text_length"


def with_plans(connect: Callable[[], MysqlConnection], uses: Sequence[StatementUse]) -> Planned:
    """Plans the most time-consuming statements, in a session of its own.

    Args:
        connect: Opens a session with a MySQL.
        uses: The statements, named by schema and digest, in the server's texts.

    Returns:
        The statements in plain texts.
    """
    session: MysqlConnection | None = None

    with ExitStack() as stack:

        def explained(use: StatementUse) -> str:
            nonlocal session
            if session is None:
                opened = stack.enter_context(closing(connect()))
                opened.execute("SET SESSION TRANSACTION READ ONLY")
                opened.execute(_LIMITS)
                session = opened
            return _plan(session, *use.statement.rsplit(":", 1))

        found = planned(uses, lambda use: _PLANNABLE.match(use.text) is not None, explained)
    texts = plain(found.statements)
    prepared = any(
        is_prepared(use) and _PLANNABLE.match(text.text)
        for use, text in zip(uses, texts, strict=True)
    )
    return Planned(texts, [*found.notes, _VALUES] if prepared else found.notes)


def _plan(session: MysqlConnection, schema: str, digest: str) -> str:
    if session.execute(_CALLED).rows:
        raise DatabaseError(_FUNCTIONS)
    named = literal(schema) if schema else "NULL"
    found = session.execute(_SAMPLE.format(digest=literal(digest), schema=named)).rows
    text = str(found[0][0] or "") if found else ""
    if not text or text.endswith("..."):
        raise DatabaseError(_CUT)
    if schema:
        session.execute(f"USE {quoted(schema)}")
    return explain(session, text, analyse=False).text
