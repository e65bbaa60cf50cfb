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

_MIX = {name: cards / sum(_CARDS.values()) for name, cards in _CARDS.items()}

_PAUSES_S = {
    "new_order": 18 + 12, "payment": 3 + 12, "order_status": 2 + 10, "delivery": 2 + 5,
    "stock_level": 2 + 5,
}  # fmt: skip
"""Keying time plus mean think time (clause 5.2.5.7)."""

TRANSACTIONS = Transactions(
    main="new_order",
    plural="new_orders",
    mix=_MIX,
    kind="tpcc",
    params=_params,
    unit="warehouse",
    recorded="warehouses",
    modes=("client", "procedure"),
    homes=("fixed", "random", "all"),
    pace=Pace(users=10, per_min=12.86),
    pause_s=sum(share * _PAUSES_S[name] for name, share in _MIX.items()),
)
