"""Q3: the new orders with the highest amount of customers in some states."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import CAPITALS, since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT o_w_id, o_d_id, o_id, SUM(ol_amount) AS revenue
FROM customer, orders, new_order, order_line
WHERE c_state LIKE '{capital}%'
    AND o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    AND o_entry_d >= '{since}'
    AND no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
    AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
GROUP BY o_w_id, o_d_id, o_id
ORDER BY revenue DESC, o_w_id, o_d_id, o_id
LIMIT 10
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"capital": pick.one(CAPITALS), "since": since(pick)}


QUERY = define(
    3,
    "Open orders of most value",
    sql=SQL,
    columns={
        "o_w_id": "exact",
        "o_d_id": "exact",
        "o_id": "exact",
        "revenue": "sum",
    },
    order_by=("-revenue", "o_w_id", "o_d_id", "o_id"),
    defaults={
        "capital": "A",
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
