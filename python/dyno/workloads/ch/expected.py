"""Expected answers on the data of one warehouse, as it was loaded."""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.target import Connection, Loaded
from dyno.workloads.rows import count, expected_rows
from dyno.workloads.shipped import Shipped

SHIPPED = Shipped(Path(__file__).with_name("answers"), (1.0,))
SEED = 1
"""Seed of the data that the answers are for: that of a load without ``--seed``."""

_GROWING = ("orders", "history", "new_order")
"""Each transaction that changes data changes one of these counts: New-Order, Payment, Delivery."""


def changed(connection: Connection, loaded: Loaded) -> str | None:
    """Why the answers are not those of the loaded data; None if it is unchanged.

    A delivery and a new order together leave the count of new orders, but not that of orders.
    """
    expected = expected_rows("tpcc", loaded, _GROWING)
    for table in _GROWING:
        found, rows = count(connection, table), expected[table][0]
        if found != rows:
            return (
                f"transactions changed the data since the load ({found:,} rows in {table}, "
                f"{rows:,} loaded)"
            )
    return None
