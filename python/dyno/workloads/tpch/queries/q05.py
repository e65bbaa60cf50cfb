"""Q5: revenue of a year from suppliers in the customer's own nation, over a region."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import REGIONS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer
JOIN orders ON o_custkey = c_custkey
JOIN lineitem ON l_orderkey = o_orderkey
JOIN supplier ON s_suppkey = l_suppkey AND s_nationkey = c_nationkey
JOIN nation ON n_nationkey = s_nationkey
JOIN region ON r_regionkey = n_regionkey
WHERE r_name = '{region}'
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
