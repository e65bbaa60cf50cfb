"""Q21: suppliers of a nation whose stock alone is low for a new order."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import NATIONS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT su_name, COUNT(*) AS numwait
FROM orders, order_line AS low, stock, supplier, nation
WHERE o_carrier_id IS NULL
    AND low.ol_w_id = o_w_id AND low.ol_d_id = o_d_id AND low.ol_o_id = o_id
    AND s_w_id = low.ol_supply_w_id AND s_i_id = low.ol_i_id
    AND s_quantity < {quantity}
    AND su_suppkey = (s_w_id * s_i_id) % 10000
    AND EXISTS (
        SELECT *
        FROM order_line AS other
        WHERE other.ol_w_id = o_w_id AND other.ol_d_id = o_d_id AND other.ol_o_id = o_id
            AND other.ol_number <> low.ol_number
    )
    AND NOT EXISTS (
        SELECT *
        FROM order_line AS other_low, stock AS other_stock
        WHERE other_low.ol_w_id = o_w_id AND other_low.ol_d_id = o_d_id
            AND other_low.ol_o_id = o_id
            AND other_low.ol_number <> low.ol_number
            AND other_stock.s_w_id = other_low.ol_supply_w_id
            AND other_stock.s_i_id = other_low.ol_i_id
            AND other_stock.s_quantity < {quantity}
    )
    AND n_nationkey = su_nationkey
    AND n_name = '{nation}'
GROUP BY su_name
ORDER BY numwait DESC, su_name
LIMIT 100
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"quantity": pick.whole(15, 25), "nation": pick.one(NATIONS)}


QUERY = define(
    21,
    "Suppliers who keep orders waiting",
    sql=SQL,
    columns={
        "su_name": "exact",
        "numwait": "exact",
    },
    order_by=("-numwait", "su_name"),
    defaults={
        "quantity": 20,
        "nation": "GERMANY",
    },
    draw=_draw,
)
