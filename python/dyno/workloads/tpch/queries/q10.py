"""Q10: the twenty customers with the most revenue lost to returns in a quarter."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    c_custkey,
    c_name,
    SUM(l_extendedprice * (1 - l_discount)) AS revenue,
    c_acctbal,
    n_name,
    c_address,
    c_phone,
    c_comment
FROM customer, orders, lineitem, nation
WHERE o_custkey = c_custkey
    AND l_orderkey = o_orderkey
    AND o_orderdate >= DATE '{date}'
    AND o_orderdate < DATE '{date}' + INTERVAL '3' MONTH
    AND l_returnflag = 'R'
    AND n_nationkey = c_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC
LIMIT 20
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"date": pick.month((1993, 2), (1995, 1))}


QUERY = define(
    10,
    "Returned item reporting",
    sql=SQL,
    columns={
        "c_custkey": "exact",
        "c_name": "exact",
        "revenue": "sum",
        "c_acctbal": "exact",
        "n_name": "exact",
        "c_address": "exact",
        "c_phone": "exact",
        "c_comment": "exact",
    },
    order_by=("-revenue",),
    defaults={
        "date": "1993-10-01",
    },
    draw=_draw,
)
