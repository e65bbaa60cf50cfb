"""The five transactions as the driver runs them (TPC-C specification, clauses 4.2.2 and 5.2)."""

from __future__ import annotations

from typing import Any

from dyno.contracts.transactions import Pace, Transactions, Work


def _params(work: Work) -> dict[str, Any]:
    from dyno import _core

    return {
        "warehouses": int(work.loaded.scale),
        "c_load": _core.load_constant(work.loaded.seed),
        "home": work.home,
        "mode": work.mode,
    }


_CARDS = {"new_order": 10, "payment": 10, "order_status": 1, "delivery": 1, "stock_level": 1}
"""Cards in a user's deck."""

TRANSACTIONS = Transactions(
    main="new_order",
    plural="new_orders",
    mix={name: cards / sum(_CARDS.values()) for name, cards in _CARDS.items()},
    kind="tpcc",
    params=_params,
    unit="warehouse",
    recorded="warehouses",
    modes=("client", "procedure"),
    homes=("fixed", "random", "all"),
    pace=Pace(users=10, per_min=12.86),
)
