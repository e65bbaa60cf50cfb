"""Q13: distribution of customers by number of orders, without special orders."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import COMMENT_FIRST, COMMENT_SECOND
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT c_count, COUNT(*) AS custdist
FROM (
    SELECT c_custkey, COUNT(o_orderkey) AS c_count
    FROM customer
    LEFT OUTER JOIN orders
        ON o_custkey = c_custkey AND o_comment NOT LIKE '%{word1}%{word2}%'
    GROUP BY c_custkey
) AS c_orders
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"word1": pick.one(COMMENT_FIRST), "word2": pick.one(COMMENT_SECOND)}


QUERY = define(
    13,
    "Customer distribution",
    sql=SQL,
    columns={
        "c_count": "exact",
        "custdist": "exact",
    },
    order_by=("-custdist", "-c_count"),
    defaults={
        "word1": "special",
        "word2": "requests",
    },
    draw=_draw,
)
