"""Q11: parts with an important share of the value of a nation's stock."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import NATIONS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT ps_partkey, SUM(ps_supplycost * ps_availqty) AS value
FROM partsupp, supplier, nation
WHERE s_suppkey = ps_suppkey
    AND n_nationkey = s_nationkey
    AND n_name = '{nation}'
GROUP BY ps_partkey
HAVING SUM(ps_supplycost * ps_availqty) > (
    SELECT SUM(ps_supplycost * ps_availqty) * {fraction}
    FROM partsupp, supplier, nation
    WHERE s_suppkey = ps_suppkey
        AND n_nationkey = s_nationkey
        AND n_name = '{nation}'
)
ORDER BY value DESC
"""


def _fraction(scale: float) -> str:
    """The minimum share of the stock's value: 0.0001 / scale factor.

    Stocks have more parts at larger scales; with a fixed share, few or none would remain. In plain
    digits, because some engines read an exponent as floating point and lose exactness.
    """
    return f"{0.0001 / scale:.12f}"


def _draw(pick: Picker, scale: float) -> dict[str, Any]:
    return {"nation": pick.one(NATIONS), "fraction": _fraction(scale)}


QUERY = define(
    11,
    "Important stock",
    sql=SQL,
    columns={
        "ps_partkey": "exact",
        "value": "sum",
    },
    order_by=("-value",),
    defaults={
        "nation": "GERMANY",
        "fraction": "0.000100000000",
    },
    draw=_draw,
    scaled=lambda scale: {"fraction": _fraction(scale)},
)
