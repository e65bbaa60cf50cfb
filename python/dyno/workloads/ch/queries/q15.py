"""Q15: the supplier with the highest amount in open and late deliveries."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
WITH revenue AS (
    SELECT (s_w_id * s_i_id) % 10000 AS supplier_no, SUM(ol_amount) AS total_revenue
    FROM order_line, stock
    WHERE s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
        AND (ol_delivery_d IS NULL OR ol_delivery_d >= '{since}')
    GROUP BY (s_w_id * s_i_id) % 10000
)
SELECT su_suppkey, su_name, su_address, su_phone, total_revenue
FROM supplier, revenue
WHERE supplier_no = su_suppkey
    AND total_revenue = (SELECT MAX(total_revenue) FROM revenue)
ORDER BY su_suppkey
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"since": since(pick)}


QUERY = define(
    15,
    "Top supplier",
    sql=SQL,
    columns={
        "su_suppkey": "exact",
        "su_name": "exact",
        "su_address": "exact",
        "su_phone": "exact",
        "total_revenue": "sum",
    },
    order_by=("su_suppkey",),
    defaults={
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
