"""Q5: revenue of a year from suppliers in the customer's nation, for a region."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import REGIONS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE o_custkey = c_custkey
    AND l_orderkey = o_orderkey
    AND l_suppkey = s_suppkey
    AND s_nationkey = c_nationkey
    AND n_nationkey = s_nationkey
    AND r_regionkey = n_regionkey
    AND r_name = '{region}'
    AND o_orderdate >= DATE '{date}'
    AND o_orderdate < DATE '{date}' + INTERVAL '1' YEAR
GROUP BY n_name
ORDER BY revenue DESC
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"region": pick.one(REGIONS), "date": pick.year(1993, 1997)}


QUERY = define(
    5,
    "Local supplier volume",
    sql=SQL,
    columns={
        "n_name": "exact",
        "revenue": "sum",
    },
    order_by=("-revenue",),
    defaults={
        "region": "ASIA",
        "date": "1994-01-01",
    },
    draw=_draw,
)
