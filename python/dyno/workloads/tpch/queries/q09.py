"""Q9: profit on parts of a colour, by nation and year."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import COLORS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT nation, o_year, SUM(amount) AS sum_profit
FROM (
    SELECT
        n_name AS nation,
        EXTRACT(YEAR FROM o_orderdate) AS o_year,
        l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
    FROM part, supplier, lineitem, partsupp, orders, nation
    WHERE l_suppkey = s_suppkey
        AND ps_suppkey = l_suppkey
        AND ps_partkey = l_partkey
        AND l_partkey = p_partkey
        AND o_orderkey = l_orderkey
        AND n_nationkey = s_nationkey
        AND p_name LIKE '%{color}%'
) AS profit
GROUP BY nation, o_year
ORDER BY nation, o_year DESC
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"color": pick.one(COLORS)}


QUERY = define(
    9,
    "Product type profit",
    sql=SQL,
    columns={
        "nation": "exact",
        "o_year": "exact",
        "sum_profit": "sum",
    },
    order_by=("nation", "-o_year"),
    defaults={
        "color": "green",
    },
    draw=_draw,
)
