"""Q8: a nation's share of its region's market for one type of part, in 1995 and 1996."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import (
    NATIONS,
    REGION_OF_NATION,
    TYPE_CLASSES,
    TYPE_FINISHES,
    TYPE_METALS,
)
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    o_year,
    SUM(CASE WHEN nation = '{nation}' THEN volume ELSE 0 END) / SUM(volume) AS mkt_share
FROM (
    SELECT
        EXTRACT(YEAR FROM o_orderdate) AS o_year,
        l_extendedprice * (1 - l_discount) AS volume,
        supplier_nation.n_name AS nation
    FROM
        part,
        supplier,
        lineitem,
        orders,
        customer,
        nation AS customer_nation,
        nation AS supplier_nation,
        region
    WHERE l_partkey = p_partkey
        AND l_suppkey = s_suppkey
        AND o_orderkey = l_orderkey
        AND c_custkey = o_custkey
        AND customer_nation.n_nationkey = c_nationkey
        AND r_regionkey = customer_nation.n_regionkey
        AND r_name = '{region}'
        AND supplier_nation.n_nationkey = s_nationkey
        AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
        AND p_type = '{type}'
) AS all_nations
GROUP BY o_year
ORDER BY o_year
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    nation = pick.one(NATIONS)
    words = (TYPE_CLASSES, TYPE_FINISHES, TYPE_METALS)
    return {
        "nation": nation,
        "region": REGION_OF_NATION[nation],
        "type": " ".join(pick.one(list_of_words) for list_of_words in words),
    }


QUERY = define(
    8,
    "National market share",
    sql=SQL,
    columns={
        "o_year": "exact",
        "mkt_share": "average",
    },
    order_by=("o_year",),
    defaults={
        "nation": "BRAZIL",
        "region": "AMERICA",
        "type": "ECONOMY ANODIZED STEEL",
    },
    draw=_draw,
)
