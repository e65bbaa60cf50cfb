"""Q22: customers of some countries with a positive balance and no orders."""

from __future__ import annotations

from typing import Any

from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.domains import COUNTRY_CODES
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM (
    SELECT SUBSTRING(c_phone FROM 1 FOR 2) AS cntrycode, c_acctbal
    FROM customer
    WHERE SUBSTRING(c_phone FROM 1 FOR 2) IN (
            '{code1}', '{code2}', '{code3}', '{code4}', '{code5}', '{code6}', '{code7}'
        )
        AND c_acctbal > (
            SELECT AVG(c_acctbal)
            FROM customer
            WHERE c_acctbal > 0.00
                AND SUBSTRING(c_phone FROM 1 FOR 2) IN (
                    '{code1}', '{code2}', '{code3}', '{code4}', '{code5}', '{code6}', '{code7}'
                )
        )
        AND NOT EXISTS (
            SELECT *
            FROM orders
            WHERE o_custkey = c_custkey
        )
) AS idle
GROUP BY cntrycode
ORDER BY cntrycode
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    codes = pick.several(COUNTRY_CODES, 7)
    return {f"code{number}": code for number, code in enumerate(codes, start=1)}


QUERY = define(
    22,
    "Global sales opportunity",
    sql=SQL,
    columns={
        "cntrycode": "exact",
        "numcust": "exact",
        "totacctbal": "sum",
    },
    order_by=("cntrycode",),
    defaults={
        "code1": "13",
        "code2": "31",
        "code3": "23",
        "code4": "29",
        "code5": "30",
        "code6": "18",
        "code7": "17",
    },
    draw=_draw,
)
