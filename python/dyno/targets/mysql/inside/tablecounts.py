"""Counts rows by table and nothing else, on the private server."""

from __future__ import annotations

from dyno.targets.mysql.connection import MysqlConnection

INSTRUMENT = "wait/io/table/sql/handler"
"""Counts each row that the server reads or writes through a table's handler."""
CONSUMER = "global_instrumentation"

_ONLY = (
    # Without the timer, which costs more than the count.
    "UPDATE performance_schema.setup_instruments SET timed = 'NO', "  # noqa: S608  (fixed names)
    f"enabled = IF(name = '{INSTRUMENT}', 'YES', 'NO')",
    "UPDATE performance_schema.setup_consumers "  # noqa: S608
    f"SET enabled = IF(name = '{CONSUMER}', 'YES', 'NO')",
)


def only_tables(session: MysqlConnection) -> None:
    """Turns all other instruments and consumers off.

    Raises:
        DynoError: If the user may not, or the server does not respond.
    """
    for statement in _ONLY:
        session.execute(statement)
