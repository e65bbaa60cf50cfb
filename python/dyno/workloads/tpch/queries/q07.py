"""Q7: revenue of goods shipped between two nations in 1995 and 1996."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import NATIONS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue
FROM (
    SELECT
        supplier_nation.n_name AS supp_nation,
        customer_nation.n_name AS cust_nation,
        EXTRACT(YEAR FROM l_shipdate) AS l_year,
        l_extendedprice * (1 - l_discount) AS volume
    FROM
        supplier,
        lineitem,
        orders,
        customer,
        nation AS supplier_nation,
        nation AS customer_nation
    WHERE l_suppkey = s_suppkey
        AND l_orderkey = o_orderkey
        AND o_custkey = c_custkey
        AND supplier_nation.n_nationkey = s_nationkey
        AND customer_nation.n_nationkey = c_nationkey
        AND (
            (supplier_nation.n_name = '{nation1}' AND customer_nation.n_name = '{nation2}')
            OR (supplier_nation.n_name = '{nation2}' AND customer_nation.n_name = '{nation1}')
        )
        AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
) AS shipping
GROUP BY supp_nation, cust_nation, l_year
ORDER BY supp_nation, cust_nation, l_year
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    nation1, nation2 = pick.several(NATIONS, 2)
    return {"nation1": nation1, "nation2": nation2}


QUERY = define(
    7,
    "Volume shipping",
    sql=SQL,
    columns={
        "supp_nation": "exact",
        "cust_nation": "exact",
        "l_year": "exact",
        "revenue": "sum",
    },
    order_by=("supp_nation", "cust_nation", "l_year"),
    defaults={
        "nation1": "FRANCE",
        "nation2": "GERMANY",
    },
    draw=_draw,
)
