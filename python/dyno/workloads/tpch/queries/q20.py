"""Q20: suppliers of a nation whose stock of a coloured part exceeds half a year's sales."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import COLORS, NATIONS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT s_name, s_address
FROM supplier, nation
WHERE s_suppkey IN (
        SELECT ps_suppkey
        FROM partsupp
        WHERE ps_partkey IN (
                SELECT p_partkey
                FROM part
                WHERE p_name LIKE '{color}%'
            )
            AND ps_availqty > (
                SELECT 0.5 * SUM(l_quantity)
                FROM lineitem
                WHERE l_partkey = ps_partkey
                    AND l_suppkey = ps_suppkey
                    AND l_shipdate >= DATE '{date}'
                    AND l_shipdate < DATE '{date}' + INTERVAL '1' YEAR
            )
    )
    AND n_nationkey = s_nationkey
    AND n_name = '{nation}'
ORDER BY s_name
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {
        "color": pick.one(COLORS),
        "date": pick.year(1993, 1997),
        "nation": pick.one(NATIONS),
    }


QUERY = define(
    20,
    "Potential part promotion",
    sql=SQL,
    columns={
        "s_name": "exact",
        "s_address": "exact",
    },
    order_by=("s_name",),
    defaults={
        "color": "forest",
        "date": "1994-01-01",
        "nation": "CANADA",
    },
    draw=_draw,
)
