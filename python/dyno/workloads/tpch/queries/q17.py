"""Q17: yearly revenue lost if small orders of a part were refused."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import CONTAINER_SHAPES, CONTAINER_SIZES, brand
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem, part
WHERE p_partkey = l_partkey
    AND p_brand = '{brand}'
    AND p_container = '{container}'
    AND l_quantity < (
        SELECT 0.2 * AVG(l_quantity)
        FROM lineitem
        WHERE l_partkey = p_partkey
    )
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {
        "brand": brand(pick),
        "container": f"{pick.one(CONTAINER_SIZES)} {pick.one(CONTAINER_SHAPES)}",
    }


QUERY = define(
    17,
    "Small quantity orders",
    sql=SQL,
    columns={
        "avg_yearly": "average",
    },
    defaults={
        "brand": "Brand#23",
        "container": "MED BOX",
    },
    draw=_draw,
)
