"""Q1: quantities and amounts of order lines by number and state."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    ol_number,
    CASE WHEN ol_delivery_d IS NULL THEN 'open' ELSE 'delivered' END AS line_state,
    SUM(ol_quantity) AS sum_qty,
    SUM(ol_amount) AS sum_amount,
    AVG(ol_quantity) AS avg_qty,
    AVG(ol_amount) AS avg_amount,
    COUNT(*) AS count_order
FROM order_line
WHERE ol_delivery_d IS NULL OR ol_delivery_d >= '{since}'
GROUP BY ol_number, line_state
ORDER BY ol_number, line_state
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"since": since(pick)}


QUERY = define(
    1,
    "Order line summary",
    sql=SQL,
    columns={
        "ol_number": "exact",
        "line_state": "exact",
        "sum_qty": "exact",
        "sum_amount": "sum",
        "avg_qty": "average",
        "avg_amount": "average",
        "count_order": "exact",
    },
    order_by=("ol_number", "line_state"),
    defaults={
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
