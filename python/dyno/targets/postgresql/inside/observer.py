"""Sessions in which Dyno observes a server, apart from those that do the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg

from dyno.contracts.probe import Sample
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.sessionprobe import Ask

NAME = "dyno observer"
"""``application_name`` of these sessions, and a comment in their statements: neither counts."""

# The size of a relation waits for its lock; a TRUNCATE or REINDEX may hold it for long.
_PREPARE = """SELECT set_config('jit', 'off', false), set_config('lock_timeout', '1s', false),
set_config('max_parallel_workers_per_gather', '0', false),
set_config('statement_timeout', %(timeout)s, false)"""


def prepare(session: PostgresConnection, timeout_s: float) -> None:
    """Limits the statements of a session to ``timeout_s`` seconds and to one process.

    Raises:
        DynoError: If the server does not respond.
    """
    rows(session, _PREPARE, {"timeout": f"{round(timeout_s * 1000)}ms"})


def prepared(
    make: Callable[[], Ask[PostgresConnection]], timeout_s: float
) -> Callable[[], Ask[PostgresConnection]]:
    """Returns a factory of readers that prepare each new session before they use it."""

    def made() -> Ask[PostgresConnection]:
        ask = make()
        known: PostgresConnection | None = None

        def read(session: PostgresConnection, now_ns: int) -> Sequence[Sample]:
            nonlocal known
            if session is not known:
                prepare(session, timeout_s)
                known = session
            return ask(session, now_ns)

        return read

    return made


def rows(
    session: PostgresConnection, question: str, values: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The rows of a statement by column name. The server plans it once a session.

    Args:
        session: A session.
        question: The statement. It begins with SELECT.
        values: Its parameters by name.

    Raises:
        DynoError: If the server refuses it or does not respond.
    """
    marked = question.replace("SELECT", f"SELECT /* {NAME} */", 1)
    try:
        with session.raw.cursor() as cursor:
            cursor.execute(marked.encode(), values, prepare=True)
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    except psycopg.Error as error:
        raise session.error(error) from error
