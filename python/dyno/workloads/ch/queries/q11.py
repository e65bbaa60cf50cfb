"""Q11: the items that are a large part of the stock of a nation's suppliers."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import NATIONS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker


def _fraction(scale: float) -> str:
    """The share of an item; the stock of a nation grows with the warehouses."""
    return f"{0.001 / scale:.9f}"


SQL = """
SELECT s_i_id, SUM(s_quantity) AS quantity
FROM stock, supplier, nation
WHERE su_suppkey = (s_w_id * s_i_id) % 10000
    AND n_nationkey = su_nationkey
    AND n_name = '{nation}'
GROUP BY s_i_id
HAVING SUM(s_quantity) > (
    SELECT SUM(s_quantity) * {fraction}
    FROM stock, supplier, nation
    WHERE su_suppkey = (s_w_id * s_i_id) % 10000
        AND n_nationkey = su_nationkey
        AND n_name = '{nation}'
)
ORDER BY quantity DESC, s_i_id
"""


def _draw(pick: Picker, scale: float) -> dict[str, Any]:
    return {"nation": pick.one(NATIONS), "fraction": _fraction(scale)}


QUERY = define(
    11,
    "Important stock",
    sql=SQL,
    columns={
        "s_i_id": "exact",
        "quantity": "exact",
    },
    order_by=("-quantity", "s_i_id"),
    defaults={
        "nation": "GERMANY",
        "fraction": "0.001000000",
    },
    draw=_draw,
    scaled=lambda scale: {"fraction": _fraction(scale)},
)
