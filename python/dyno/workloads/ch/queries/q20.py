"""Q20: suppliers of a nation with more than half of what was ordered of an item in stock."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS, NATIONS, since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT su_name, su_address
FROM supplier, nation
WHERE su_suppkey IN (
        SELECT (s_w_id * s_i_id) % 10000
        FROM stock, order_line
        WHERE s_i_id IN (
                SELECT i_id
                FROM item
                WHERE i_data LIKE '{letter}%'
            )
            AND ol_supply_w_id = s_w_id AND ol_i_id = s_i_id
            AND (ol_delivery_d IS NULL OR ol_delivery_d >= '{since}')
        GROUP BY s_w_id, s_i_id, s_quantity
        HAVING 2 * s_quantity > SUM(ol_quantity)
    )
    AND n_nationkey = su_nationkey
    AND n_name = '{nation}'
ORDER BY su_name
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"letter": pick.one(LETTERS), "since": since(pick), "nation": pick.one(NATIONS)}


QUERY = define(
    20,
    "Suppliers with plenty",
    sql=SQL,
    columns={
        "su_name": "exact",
        "su_address": "exact",
    },
    order_by=("su_name",),
    defaults={
        "letter": "c",
        "since": "2025-01-01 00:20:00",
        "nation": "GERMANY",
    },
    draw=_draw,
)
