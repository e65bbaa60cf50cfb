"""Q12: late lines of a year by ship mode, for urgent and other orders."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import SHIP_MODES
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    l_shipmode,
    SUM(
        CASE
            WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1
            ELSE 0
        END
    ) AS high_line_count,
    SUM(
        CASE
            WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1
            ELSE 0
        END
    ) AS low_line_count
FROM orders, lineitem
WHERE l_orderkey = o_orderkey
    AND l_shipmode IN ('{mode1}', '{mode2}')
    AND l_commitdate < l_receiptdate
    AND l_shipdate < l_commitdate
    AND l_receiptdate >= DATE '{date}'
    AND l_receiptdate < DATE '{date}' + INTERVAL '1' YEAR
GROUP BY l_shipmode
ORDER BY l_shipmode
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    mode1, mode2 = pick.several(SHIP_MODES, 2)
    return {"mode1": mode1, "mode2": mode2, "date": pick.year(1993, 1997)}


QUERY = define(
    12,
    "Shipping modes and priority",
    sql=SQL,
    columns={
        "l_shipmode": "exact",
        "high_line_count": "exact",
        "low_line_count": "exact",
    },
    order_by=("l_shipmode",),
    defaults={
        "mode1": "MAIL",
        "mode2": "SHIP",
        "date": "1994-01-01",
    },
    draw=_draw,
)
