"""The transactions as the driver runs them (TPC-E specification, clause 6.3.1)."""

from __future__ import annotations

from typing import Any

from dyno.contracts.transactions import Transactions, Work
from dyno.workloads.brokerage.sizes import DAYS


def _params(work: Work) -> dict[str, Any]:
    loaded = work.loaded
    days = DAYS.usual if loaded.days is None else loaded.days
    return {"scale": loaded.scale, "days": days, "seed": loaded.seed, "mode": work.mode}


_THOUSANDTHS = {
    "broker_volume": 49,
    "customer_position": 130,
    "market_feed": 10,
    "market_watch": 180,
    "security_detail": 140,
    "trade_lookup": 80,
    "trade_order": 101,
    "trade_result": 100,
    "trade_status": 190,
    "trade_update": 20,
}
"""Shares. Those of Trade-Result and Market-Feed follow from the orders: a result for each, a feed
for ten results. Data-Maintenance runs once a minute, besides."""

_P90_S = {
    "broker_volume": 3.0,
    "customer_position": 3.0,
    "market_feed": 2.0,
    "market_watch": 3.0,
    "security_detail": 3.0,
    "trade_lookup": 3.0,
    "trade_order": 2.0,
    "trade_result": 2.0,
    "trade_status": 1.0,
    "trade_update": 3.0,
}
"""90 % of each must respond within."""

TRANSACTIONS = Transactions(
    main="trade_result",
    plural="trade_results",
    mix={name: share / 1000 for name, share in _THOUSANDTHS.items()},
    kind="brokerage",
    params=_params,
    unit="load unit",
    modes=("client", "procedure"),
    homes=("random",),
    p90_s=_P90_S,
    p90_source="response time limits of the TPC-E specification",
)
