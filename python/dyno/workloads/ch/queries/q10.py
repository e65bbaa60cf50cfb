"""Q10: the customers with the highest amount in lines that are not delivered."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT c_w_id, c_d_id, c_id, c_last, SUM(ol_amount) AS revenue, c_city, c_phone, n_name
FROM orders, order_line, customer, nation
WHERE o_entry_d >= '{since}'
    AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    AND ol_delivery_d IS NULL
    AND c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
    AND n_nationkey = ASCII(SUBSTRING(c_state FROM 1 FOR 1))
GROUP BY c_w_id, c_d_id, c_id, c_last, c_city, c_phone, n_name
ORDER BY revenue DESC, c_w_id, c_d_id, c_id
LIMIT 20
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"since": since(pick)}


QUERY = define(
    10,
    "Customers who wait",
    sql=SQL,
    columns={
        "c_w_id": "exact",
        "c_d_id": "exact",
        "c_id": "exact",
        "c_last": "exact",
        "revenue": "sum",
        "c_city": "exact",
        "c_phone": "exact",
        "n_name": "exact",
    },
    order_by=("-revenue", "c_w_id", "c_d_id", "c_id"),
    defaults={
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
