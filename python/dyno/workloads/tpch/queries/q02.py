"""Q2: the suppliers of a region with the lowest cost for a part."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import REGIONS, TYPE_METALS
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM part, supplier, partsupp, nation, region
WHERE ps_partkey = p_partkey
    AND ps_suppkey = s_suppkey
    AND p_size = {size}
    AND p_type LIKE '%{metal}'
    AND n_nationkey = s_nationkey
    AND r_regionkey = n_regionkey
    AND r_name = '{region}'
    AND ps_supplycost = (
        SELECT MIN(ps_supplycost)
        FROM partsupp, supplier, nation, region
        WHERE ps_partkey = p_partkey
            AND ps_suppkey = s_suppkey
            AND n_nationkey = s_nationkey
            AND r_regionkey = n_regionkey
            AND r_name = '{region}'
    )
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
LIMIT 100
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {
        "size": pick.whole(1, 50),
        "metal": pick.one(TYPE_METALS),
        "region": pick.one(REGIONS),
    }


QUERY = define(
    2,
    "Minimum cost supplier",
    sql=SQL,
    columns={
        "s_acctbal": "exact",
        "s_name": "exact",
        "n_name": "exact",
        "p_partkey": "exact",
        "p_mfgr": "exact",
        "s_address": "exact",
        "s_phone": "exact",
        "s_comment": "exact",
    },
    order_by=("-s_acctbal", "n_name", "s_name", "p_partkey"),
    defaults={
        "size": 15,
        "metal": "BRASS",
        "region": "EUROPE",
    },
    draw=_draw,
)
