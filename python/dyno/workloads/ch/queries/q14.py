"""Q14: the amount of some items in open and late deliveries, in per cent."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS, since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    100.00 * SUM(CASE WHEN i_data LIKE '{letter}%' THEN ol_amount ELSE 0 END)
        / SUM(ol_amount) AS promo_revenue
FROM order_line, item
WHERE i_id = ol_i_id
    AND (ol_delivery_d IS NULL OR ol_delivery_d >= '{since}')
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"letter": pick.one(LETTERS), "since": since(pick)}


QUERY = define(
    14,
    "Share of some items",
    sql=SQL,
    columns={
        "promo_revenue": "average",
    },
    defaults={
        "letter": "P",
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
