"""Q15: the supplier with the most revenue in a quarter."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
WITH revenue AS (
    SELECT l_suppkey AS supplier_no, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue
    FROM lineitem
    WHERE l_shipdate >= DATE '{date}'
        AND l_shipdate < DATE '{date}' + INTERVAL '3' MONTH
    GROUP BY l_suppkey
)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
FROM supplier, revenue
WHERE supplier_no = s_suppkey
    AND total_revenue = (SELECT MAX(total_revenue) FROM revenue)
ORDER BY s_suppkey
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"date": pick.month((1993, 1), (1997, 10))}


QUERY = define(
    15,
    "Top supplier",
    sql=SQL,
    columns={
        "s_suppkey": "exact",
        "s_name": "exact",
        "s_address": "exact",
        "s_phone": "exact",
        "total_revenue": "sum",
    },
    order_by=("s_suppkey",),
    defaults={
        "date": "1996-01-01",
    },
    draw=_draw,
)
