"""Q7: amounts by year that suppliers of one nation sell to customers of another."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import NATIONS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT supp_nation, cust_nation, o_year, SUM(amount) AS revenue
FROM (
    SELECT
        supplier_nation.n_name AS supp_nation,
        customer_nation.n_name AS cust_nation,
        EXTRACT(YEAR FROM o_entry_d) AS o_year,
        ol_amount AS amount
    FROM
        supplier,
        stock,
        order_line,
        orders,
        customer,
        nation AS supplier_nation,
        nation AS customer_nation
    WHERE su_suppkey = (s_w_id * s_i_id) % 10000
        AND s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
        AND ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        AND o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
        AND supplier_nation.n_nationkey = su_nationkey
        AND customer_nation.n_nationkey = ASCII(SUBSTRING(c_state FROM 1 FOR 1))
        AND (
            (supplier_nation.n_name = '{nation1}' AND customer_nation.n_name = '{nation2}')
            OR (supplier_nation.n_name = '{nation2}' AND customer_nation.n_name = '{nation1}')
        )
) AS shipping
GROUP BY supp_nation, cust_nation, o_year
ORDER BY supp_nation, cust_nation, o_year
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    first, second = pick.several(NATIONS, 2)
    return {"nation1": first, "nation2": second}


QUERY = define(
    7,
    "Trade between two nations",
    sql=SQL,
    columns={
        "supp_nation": "exact",
        "cust_nation": "exact",
        "o_year": "exact",
        "revenue": "sum",
    },
    order_by=("supp_nation", "cust_nation", "o_year"),
    defaults={
        "nation1": "GERMANY",
        "nation2": "CHINA",
    },
    draw=_draw,
)
