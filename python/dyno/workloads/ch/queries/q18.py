"""Q18: the orders with the highest amount and their customers."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT c_last, o_w_id, o_d_id, o_c_id, o_id, o_ol_cnt, SUM(ol_amount) AS amount
FROM customer, orders, order_line
WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
GROUP BY c_last, o_w_id, o_d_id, o_c_id, o_id, o_ol_cnt
HAVING SUM(ol_amount) > {amount}
ORDER BY amount DESC, o_w_id, o_d_id, o_id
LIMIT 100
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"amount": pick.whole(80, 100) * 1000}


QUERY = define(
    18,
    "Large orders",
    sql=SQL,
    columns={
        "c_last": "exact",
        "o_w_id": "exact",
        "o_d_id": "exact",
        "o_c_id": "exact",
        "o_id": "exact",
        "o_ol_cnt": "exact",
        "amount": "sum",
    },
    order_by=("-amount", "o_w_id", "o_d_id", "o_id"),
    defaults={
        "amount": 90000,
    },
    draw=_draw,
)
