"""Q12: delivered lines of two carriers and of the others, by lines of their order."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import CARRIERS, since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    o_ol_cnt,
    SUM(CASE WHEN o_carrier_id IN ({carrier1}, {carrier2}) THEN 1 ELSE 0 END) AS these_count,
    SUM(CASE WHEN o_carrier_id IN ({carrier1}, {carrier2}) THEN 0 ELSE 1 END) AS other_count
FROM orders, order_line
WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    AND ol_delivery_d >= o_entry_d
    AND ol_delivery_d >= '{since}'
GROUP BY o_ol_cnt
ORDER BY o_ol_cnt
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    first, second = pick.several(CARRIERS, 2)
    return {"carrier1": first, "carrier2": second, "since": since(pick)}


QUERY = define(
    12,
    "Delivered lines by carrier",
    sql=SQL,
    columns={
        "o_ol_cnt": "exact",
        "these_count": "exact",
        "other_count": "exact",
    },
    order_by=("o_ol_cnt",),
    defaults={
        "carrier1": 1,
        "carrier2": 2,
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
