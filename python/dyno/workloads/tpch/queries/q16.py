"""Q16: number of suppliers without complaints for parts of given kinds."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import TYPE_CLASSES, TYPE_FINISHES, brand
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt
FROM partsupp, part
WHERE p_partkey = ps_partkey
    AND p_brand <> '{brand}'
    AND p_type NOT LIKE '{type}%'
    AND p_size IN (
        {size1}, {size2}, {size3}, {size4}, {size5}, {size6}, {size7}, {size8}
    )
    AND ps_suppkey NOT IN (
        SELECT s_suppkey
        FROM supplier
        WHERE s_comment LIKE '%Customer%Complaints%'
    )
GROUP BY p_brand, p_type, p_size
ORDER BY supplier_cnt DESC, p_brand, p_type, p_size
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    sizes = pick.several(range(1, 51), 8)
    return {
        "brand": brand(pick),
        "type": f"{pick.one(TYPE_CLASSES)} {pick.one(TYPE_FINISHES)}",
        **{f"size{number}": size for number, size in enumerate(sizes, start=1)},
    }


QUERY = define(
    16,
    "Parts and suppliers",
    sql=SQL,
    columns={
        "p_brand": "exact",
        "p_type": "exact",
        "p_size": "exact",
        "supplier_cnt": "exact",
    },
    order_by=("-supplier_cnt", "p_brand", "p_type", "p_size"),
    defaults={
        "brand": "Brand#45",
        "type": "MEDIUM POLISHED",
        "size1": 49,
        "size2": 14,
        "size3": 23,
        "size4": 45,
        "size5": 19,
        "size6": 3,
        "size7": 36,
        "size8": 9,
    },
    draw=_draw,
)
