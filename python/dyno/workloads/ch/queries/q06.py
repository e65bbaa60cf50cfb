"""Q6: the total of order lines with an amount in a range and a small quantity."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT SUM(ol_amount) AS revenue
FROM order_line
WHERE ol_amount BETWEEN {low} AND {low} + 2000.00
    AND ol_quantity < {quantity}
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"low": f"{pick.whole(1, 70) * 100}.00", "quantity": pick.whole(6, 9)}


QUERY = define(
    6,
    "Revenue of some lines",
    sql=SQL,
    columns={
        "revenue": "sum",
    },
    defaults={
        "low": "1000.00",
        "quantity": 8,
    },
    draw=_draw,
)
