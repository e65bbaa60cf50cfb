"""Q21: suppliers of a nation who alone delayed an order with several suppliers."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import NATIONS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT s_name, COUNT(*) AS numwait
FROM supplier, lineitem AS late, orders, nation
WHERE late.l_suppkey = s_suppkey
    AND o_orderkey = late.l_orderkey
    AND o_orderstatus = 'F'
    AND late.l_receiptdate > late.l_commitdate
    AND EXISTS (
        SELECT *
        FROM lineitem AS other
        WHERE other.l_orderkey = late.l_orderkey
            AND other.l_suppkey <> late.l_suppkey
    )
    AND NOT EXISTS (
        SELECT *
        FROM lineitem AS other_late
        WHERE other_late.l_orderkey = late.l_orderkey
            AND other_late.l_suppkey <> late.l_suppkey
            AND other_late.l_receiptdate > other_late.l_commitdate
    )
    AND n_nationkey = s_nationkey
    AND n_name = '{nation}'
GROUP BY s_name
ORDER BY numwait DESC, s_name
LIMIT 100
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"nation": pick.one(NATIONS)}


QUERY = define(
    21,
    "Suppliers who kept orders waiting",
    sql=SQL,
    columns={
        "s_name": "exact",
        "numwait": "exact",
    },
    order_by=("-numwait", "s_name"),
    defaults={
        "nation": "SAUDI ARABIA",
    },
    draw=_draw,
)
