"""Q5: amounts of lines whose customer and supplier are of one nation of a region.

A difference compares the nations: with an equation, some planners first join all customers and all
suppliers of each nation.
"""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import REGIONS, since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT n_name, SUM(ol_amount) AS revenue
FROM customer, orders, order_line, stock, supplier, nation, region
WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    AND o_entry_d >= '{since}'
    AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    AND s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
    AND su_suppkey = (s_w_id * s_i_id) % 10000
    AND su_nationkey - ASCII(SUBSTRING(c_state FROM 1 FOR 1)) = 0
    AND n_nationkey = su_nationkey
    AND r_regionkey = n_regionkey
    AND r_name = '{region}'
GROUP BY n_name
ORDER BY revenue DESC
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"region": pick.one(REGIONS), "since": since(pick)}


QUERY = define(
    5,
    "Volume within nations",
    sql=SQL,
    columns={
        "n_name": "exact",
        "revenue": "sum",
    },
    order_by=("-revenue",),
    defaults={
        "region": "EUROPE",
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
