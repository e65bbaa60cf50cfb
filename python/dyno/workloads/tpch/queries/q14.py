"""Q14: percentage of a month's revenue that came from promoted parts."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    100.00
    * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
    / SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem, part
WHERE p_partkey = l_partkey
    AND l_shipdate >= DATE '{date}'
    AND l_shipdate < DATE '{date}' + INTERVAL '1' MONTH
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"date": pick.month((1993, 1), (1997, 12))}


QUERY = define(
    14,
    "Promotion effect",
    sql=SQL,
    columns={
        "promo_revenue": "average",
    },
    defaults={
        "date": "1995-09-01",
    },
    draw=_draw,
)
