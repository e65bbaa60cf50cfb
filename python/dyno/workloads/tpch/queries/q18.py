"""Q18: the hundred most expensive orders with a large quantity."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    c_name,
    c_custkey,
    o_orderkey,
    o_orderdate,
    o_totalprice,
    SUM(l_quantity) AS sum_qty
FROM customer, orders, lineitem
WHERE o_orderkey IN (
        SELECT l_orderkey
        FROM lineitem
        GROUP BY l_orderkey
        HAVING SUM(l_quantity) > {quantity}
    )
    AND o_custkey = c_custkey
    AND l_orderkey = o_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
ORDER BY o_totalprice DESC, o_orderdate
LIMIT 100
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"quantity": pick.whole(312, 315)}


QUERY = define(
    18,
    "Large volume customers",
    sql=SQL,
    columns={
        "c_name": "exact",
        "c_custkey": "exact",
        "o_orderkey": "exact",
        "o_orderdate": "exact",
        "o_totalprice": "exact",
        "sum_qty": "exact",
    },
    order_by=("-o_totalprice", "o_orderdate"),
    defaults={
        "quantity": 300,
    },
    draw=_draw,
)
