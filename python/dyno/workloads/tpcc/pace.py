"""The pace of users who key and think (TPC-C specification, clauses 4.2.2 and 5.2.5.7)."""

from __future__ import annotations

TERMINALS = 10
"""Users of a warehouse."""

MOST_NEW_ORDERS = 12.86
"""New orders a minute and warehouse that they can reach with a server that answers at once."""


def crowd(users: float, warehouses: float) -> str | None:
    """What to tell of thinking users who are more than their terminals; None if they are not."""
    if users <= TERMINALS * warehouses:
        return None
    return (
        f"{users:,.0f} users who think share {warehouses:,.0f} warehouse"
        f"{'' if warehouses == 1 else 's'}: the rule is {TERMINALS} a warehouse. Give at most "
        f"--users {TERMINALS * warehouses:.0f}, or load {-(-users // TERMINALS):.0f} warehouses."
    )
