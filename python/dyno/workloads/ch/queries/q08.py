"""Q8: what suppliers of a nation sell of some items to a region, in per cent by year."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS, NATIONS, REGION_OF_NATION
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    o_year,
    100.00 * SUM(CASE WHEN nation = '{nation}' THEN amount ELSE 0 END) / SUM(amount) AS share
FROM (
    SELECT
        EXTRACT(YEAR FROM o_entry_d) AS o_year,
        ol_amount AS amount,
        supplier_nation.n_name AS nation
    FROM
        item,
        order_line,
        orders,
        customer,
        nation AS customer_nation,
        region,
        stock,
        supplier,
        nation AS supplier_nation
    WHERE i_data LIKE '%{letter}'
        AND ol_i_id = i_id
        AND o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
        AND c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
        AND customer_nation.n_nationkey = ASCII(SUBSTRING(c_state FROM 1 FOR 1))
        AND r_regionkey = customer_nation.n_regionkey
        AND r_name = '{region}'
        AND s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
        AND su_suppkey = (s_w_id * s_i_id) % 10000
        AND supplier_nation.n_nationkey = su_nationkey
) AS sales
GROUP BY o_year
ORDER BY o_year
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    nation = pick.one(NATIONS)
    return {"nation": nation, "region": REGION_OF_NATION[nation], "letter": pick.one(LETTERS)}


QUERY = define(
    8,
    "Share of a nation",
    sql=SQL,
    columns={
        "o_year": "exact",
        "share": "average",
    },
    order_by=("o_year",),
    defaults={
        "nation": "GERMANY",
        "region": "EUROPE",
        "letter": "b",
    },
    draw=_draw,
)
