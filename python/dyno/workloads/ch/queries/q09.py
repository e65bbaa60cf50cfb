"""Q9: amounts of some items by the nation of their supplier and by year."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT nation, o_year, SUM(amount) AS sum_amount
FROM (
    SELECT n_name AS nation, EXTRACT(YEAR FROM o_entry_d) AS o_year, ol_amount AS amount
    FROM item, order_line, stock, supplier, orders, nation
    WHERE i_data LIKE '%{letter}'
        AND ol_i_id = i_id
        AND s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
        AND su_suppkey = (s_w_id * s_i_id) % 10000
        AND o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
        AND n_nationkey = su_nationkey
) AS sold
GROUP BY nation, o_year
ORDER BY nation, o_year DESC
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"letter": pick.one(LETTERS)}


QUERY = define(
    9,
    "Revenue of some items",
    sql=SQL,
    columns={
        "nation": "exact",
        "o_year": "exact",
        "sum_amount": "sum",
    },
    order_by=("nation", "-o_year"),
    defaults={
        "letter": "B",
    },
    draw=_draw,
)
