"""Transaction isolation in PostgreSQL. Read uncommitted is the same as read committed."""

from __future__ import annotations

from dyno.contracts.isolation import Isolation, sql_name, standard_name
from dyno.contracts.target import Connection


def isolation(session: Connection) -> Isolation:
    """The levels, and the default of the server, database or role."""
    default = session.execute("SHOW default_transaction_isolation").rows[0][0]
    return Isolation(
        ("read-committed", "repeatable-read", "serializable"), standard_name(str(default)), _begin
    )


def _begin(level: str, _writes: bool) -> tuple[str, ...]:
    return (f"BEGIN ISOLATION LEVEL {sql_name(level)}",)
