"""Q16: suppliers without complaints by kind and image group of their items."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT image_group, kind, COUNT(DISTINCT supplier_no) AS supplier_cnt
FROM (
    SELECT
        i_im_id % 50 AS image_group,
        SUBSTRING(i_data FROM 1 FOR 1) AS kind,
        (s_w_id * s_i_id) % 10000 AS supplier_no
    FROM stock, item
    WHERE i_id = s_i_id
        AND i_data NOT LIKE '{letter}%'
        AND i_price < {price}
) AS offered
WHERE supplier_no NOT IN (
        SELECT su_suppkey
        FROM supplier
        WHERE su_comment LIKE '%complaints%'
    )
GROUP BY image_group, kind
ORDER BY supplier_cnt DESC, image_group
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"letter": pick.one(LETTERS), "price": pick.whole(20, 80)}


QUERY = define(
    16,
    "Suppliers of kinds of items",
    sql=SQL,
    columns={
        "image_group": "exact",
        "kind": "exact",
        "supplier_cnt": "exact",
    },
    order_by=("-supplier_cnt", "image_group"),
    defaults={
        "letter": "z",
        "price": 50,
    },
    draw=_draw,
)
