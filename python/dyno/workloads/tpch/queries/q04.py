"""Q4: number of orders of a quarter with a late line, by priority."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT o_orderpriority, COUNT(*) AS order_count
FROM orders
WHERE o_orderdate >= DATE '{date}'
    AND o_orderdate < DATE '{date}' + INTERVAL '3' MONTH
    AND EXISTS (
        SELECT *
        FROM lineitem
        WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate
    )
GROUP BY o_orderpriority
ORDER BY o_orderpriority
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"date": pick.month((1993, 1), (1997, 10))}


QUERY = define(
    4,
    "Order priority checking",
    sql=SQL,
    columns={
        "o_orderpriority": "exact",
        "order_count": "exact",
    },
    order_by=("o_orderpriority",),
    defaults={
        "date": "1993-07-01",
    },
    draw=_draw,
)
