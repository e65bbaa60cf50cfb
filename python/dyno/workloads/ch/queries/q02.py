"""Q2: the suppliers of a region with the least stock of an item there."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS, REGIONS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT su_suppkey, su_name, n_name, i_id, i_name, su_address, su_phone, su_comment
FROM item, stock, supplier, nation, region, (
    SELECT s_i_id AS least_i_id, MIN(s_quantity) AS least_quantity
    FROM stock, supplier, nation, region
    WHERE su_suppkey = (s_w_id * s_i_id) % 10000
        AND n_nationkey = su_nationkey
        AND r_regionkey = n_regionkey
        AND r_name = '{region}'
    GROUP BY s_i_id
) AS least
WHERE i_id = s_i_id
    AND i_data LIKE '%{letter}'
    AND su_suppkey = (s_w_id * s_i_id) % 10000
    AND n_nationkey = su_nationkey
    AND r_regionkey = n_regionkey
    AND r_name = '{region}'
    AND least_i_id = s_i_id
    AND least_quantity = s_quantity
ORDER BY n_name, su_name, i_id
LIMIT 100
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"region": pick.one(REGIONS), "letter": pick.one(LETTERS)}


QUERY = define(
    2,
    "Scarcest stock of a region",
    sql=SQL,
    columns={
        "su_suppkey": "exact",
        "su_name": "exact",
        "n_name": "exact",
        "i_id": "exact",
        "i_name": "exact",
        "su_address": "exact",
        "su_phone": "exact",
        "su_comment": "exact",
    },
    order_by=("n_name", "su_name", "i_id"),
    defaults={
        "region": "EUROPE",
        "letter": "b",
    },
    draw=_draw,
)
