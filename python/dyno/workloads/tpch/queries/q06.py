"""Q6: extra revenue of a year without certain discounts on small lines."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT SUM(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= DATE '{date}'
    AND l_shipdate < DATE '{date}' + INTERVAL '1' YEAR
    AND l_discount BETWEEN {discount} - 0.01 AND {discount} + 0.01
    AND l_quantity < {quantity}
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {
        "date": pick.year(1993, 1997),
        "discount": f"0.0{pick.whole(2, 9)}",
        "quantity": pick.whole(24, 25),
    }


QUERY = define(
    6,
    "Forecasting revenue change",
    sql=SQL,
    columns={
        "revenue": "sum",
    },
    defaults={
        "date": "1994-01-01",
        "discount": "0.06",
        "quantity": 24,
    },
    draw=_draw,
)
