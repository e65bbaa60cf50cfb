"""Q17: the total of lines with far less than the average amount of their item."""

from __future__ import annotations

from typing import Any

from dyno.workloads.ch.queries.domains import LETTERS
from dyno.workloads.tpch.queries.define import define
from dyno.workloads.tpch.queries.pick import Picker

SQL = """
SELECT SUM(ol_amount) / 7.0 AS avg_yearly
FROM order_line, (
    SELECT i_id AS chosen_id, AVG(ol_amount) AS avg_amount
    FROM item, order_line
    WHERE i_data LIKE '%{letter}'
        AND ol_i_id = i_id
    GROUP BY i_id
) AS chosen
WHERE ol_i_id = chosen_id
    AND ol_amount < 0.7 * avg_amount
"""


def _draw(pick: Picker, _scale: float) -> dict[str, Any]:
    return {"letter": pick.one(LETTERS)}


QUERY = define(
    17,
    "Small lines of some items",
    sql=SQL,
    columns={
        "avg_yearly": "average",
    },
    defaults={
        "letter": "b",
    },
    draw=_draw,
)
