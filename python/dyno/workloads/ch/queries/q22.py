"""Q22: customers with a high discount and without a recent order, by phone code."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import CODES, since
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT phone_code, COUNT(*) AS numcust, SUM(balance) AS total_balance
FROM (
    SELECT SUBSTRING(c_phone FROM 1 FOR 2) AS phone_code, c_balance AS balance
    FROM customer
    WHERE SUBSTRING(c_phone FROM 1 FOR 2) IN (
            '{code1}', '{code2}', '{code3}', '{code4}', '{code5}', '{code6}', '{code7}'
        )
        AND c_discount > (
            SELECT AVG(c_discount)
            FROM customer
            WHERE c_discount > 0.00
                AND SUBSTRING(c_phone FROM 1 FOR 2) IN (
                    '{code1}', '{code2}', '{code3}', '{code4}', '{code5}', '{code6}', '{code7}'
                )
        )
        AND NOT EXISTS (
            SELECT *
            FROM orders
            WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
                AND o_entry_d >= '{since}'
        )
) AS idle
GROUP BY phone_code
ORDER BY phone_code
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    codes = pick.several(CODES, 7)
    drawn = {f"code{number}": code for number, code in enumerate(codes, start=1)}
    return {**drawn, "since": since(pick)}


QUERY = define(
    22,
    "Customers to win back",
    sql=SQL,
    columns={
        "phone_code": "exact",
        "numcust": "exact",
        "total_balance": "sum",
    },
    order_by=("phone_code",),
    defaults={
        "code1": "13",
        "code2": "31",
        "code3": "23",
        "code4": "29",
        "code5": "30",
        "code6": "18",
        "code7": "17",
        "since": "2025-01-01 00:20:00",
    },
    draw=_draw,
)
