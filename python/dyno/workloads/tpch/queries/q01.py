"""Q1: amounts billed, shipped and returned up to a day."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT
    l_returnflag,
    l_linestatus,
    SUM(l_quantity) AS sum_qty,
    SUM(l_extendedprice) AS sum_base_price,
    SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
    SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
    AVG(l_quantity) AS avg_qty,
    AVG(l_extendedprice) AS avg_price,
    AVG(l_discount) AS avg_disc,
    COUNT(*) AS count_order
FROM lineitem
WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '{delta}' DAY
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"delta": pick.whole(60, 120)}


QUERY = define(
    1,
    "Pricing summary",
    sql=SQL,
    columns={
        "l_returnflag": "exact",
        "l_linestatus": "exact",
        "sum_qty": "exact",
        "sum_base_price": "sum",
        "sum_disc_price": "sum",
        "sum_charge": "sum",
        "avg_qty": "average",
        "avg_price": "average",
        "avg_disc": "average",
        "count_order": "exact",
    },
    order_by=("l_returnflag", "l_linestatus"),
    defaults={
        "delta": 90,
    },
    draw=_draw,
)
