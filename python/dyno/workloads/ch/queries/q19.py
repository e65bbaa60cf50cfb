"""Q19: the total of lines that meet one of three sets of conditions."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT SUM(ol_amount) AS revenue
FROM order_line, item
WHERE i_id = ol_i_id
    AND (
        (
            i_data LIKE '%{letter1}'
            AND ol_quantity BETWEEN {quantity1} AND {quantity1} + 4
            AND i_price BETWEEN {price1} AND {price1} + 40
        )
        OR (
            i_data LIKE '%{letter2}'
            AND ol_quantity BETWEEN {quantity2} AND {quantity2} + 4
            AND i_price BETWEEN {price2} AND {price2} + 40
        )
        OR (
            i_data LIKE '%{letter3}'
            AND ol_quantity BETWEEN {quantity3} AND {quantity3} + 4
            AND i_price BETWEEN {price3} AND {price3} + 40
        )
    )
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    letters = pick.several(LETTERS, 3)
    drawn: dict[str, Any] = {}
    for number, letter in enumerate(letters, start=1):
        drawn |= {
            f"letter{number}": letter,
            f"quantity{number}": pick.whole(1, 5),
            f"price{number}": pick.whole(1, 60),
        }
    return drawn


QUERY = define(
    19,
    "Revenue of three kinds",
    sql=SQL,
    columns={
        "revenue": "sum",
    },
    defaults={
        "letter1": "a",
        "letter2": "b",
        "letter3": "c",
        "quantity1": 1,
        "quantity2": 3,
        "quantity3": 5,
        "price1": 1,
        "price2": 20,
        "price3": 50,
    },
    draw=_draw,
)
