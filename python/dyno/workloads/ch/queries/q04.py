"""Q4: orders with a delivered line, by their number of lines."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT o_ol_cnt, COUNT(*) AS order_count
FROM orders
WHERE o_entry_d >= '{since}'
    AND EXISTS (
        SELECT *
        FROM order_line
        WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
            AND ol_delivery_d >= o_entry_d
    )
GROUP BY o_ol_cnt
ORDER BY o_ol_cnt
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"since": since(pick)}


QUERY = define(
    4,
    "Delivered orders by size",
    sql=SQL,
    columns={
        "o_ol_cnt": "exact",
        "order_count": "exact",
    },
    order_by=("o_ol_cnt",),
    defaults={
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
