"""Transaction isolation in MariaDB and MySQL."""

from __future__ import annotations

from dyno.contracts.isolation import LEVELS, Isolation, sql_name, standard_name
from dyno.contracts.target import Connection


def isolation(session: Connection) -> Isolation:
    """The levels, and the server's default."""
    # MariaDB knows ``transaction_isolation`` since 11.1; MySQL has removed the other name.
    (row,) = session.execute(
        "SHOW VARIABLES WHERE variable_name IN ('transaction_isolation', 'tx_isolation')"
    ).rows[:1]
    return Isolation(LEVELS, standard_name(str(row[1])), _begin)


def _begin(level: str, _writes: bool) -> tuple[str, ...]:
    return (f"SET TRANSACTION ISOLATION LEVEL {sql_name(level)}", "START TRANSACTION")
