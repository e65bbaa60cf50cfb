"""Q13: customers by their number of orders with some carriers."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT c_count, COUNT(*) AS custdist
FROM (
    SELECT c_w_id, c_d_id, c_id, COUNT(o_id) AS c_count
    FROM customer
    LEFT OUTER JOIN orders
        ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
        AND o_carrier_id > {carrier}
    GROUP BY c_w_id, c_d_id, c_id
) AS c_orders
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"carrier": pick.whole(2, 9)}


QUERY = define(
    13,
    "Customers by orders",
    sql=SQL,
    columns={
        "c_count": "exact",
        "custdist": "exact",
    },
    order_by=("-custdist", "-c_count"),
    defaults={
        "carrier": 8,
    },
    draw=_draw,
)
