"""Q3: the ten unshipped orders of a market segment with the largest revenue."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import SEGMENTS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    l_orderkey,
    SUM(l_extendedprice * (1 - l_discount)) AS revenue,
    o_orderdate,
    o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = '{segment}'
    AND o_custkey = c_custkey
    AND l_orderkey = o_orderkey
    AND o_orderdate < DATE '{date}'
    AND l_shipdate > DATE '{date}'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 10
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"segment": pick.one(SEGMENTS), "date": f"1995-03-{pick.whole(1, 31):02}"}


QUERY = define(
    3,
    "Shipping priority",
    sql=SQL,
    columns={
        "l_orderkey": "exact",
        "revenue": "sum",
        "o_orderdate": "exact",
        "o_shippriority": "exact",
    },
    order_by=("-revenue", "o_orderdate"),
    defaults={
        "segment": "BUILDING",
        "date": "1995-03-15",
    },
    draw=_draw,
)
