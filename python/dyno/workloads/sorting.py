"""Checks that an answer has the order that the query requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.contracts.workload import Query
from dyno.workloads.answers import Difference


def out_of_order(query: Query, rows: Sequence[Sequence[Any]]) -> Difference | None:
    """Returns the first row that belongs before the previous one, if any.

    Compares text by code point. All collations agree with that on the sort columns of these
    queries: names in a single case, none of which is a prefix of another.
    """
    keys = [(query.columns.index(key.lstrip("-")), key[0] == "-") for key in query.order_by]
    for number in range(1, len(rows)):
        above, row = rows[number - 1], rows[number]
        for column, descending in keys:
            first, second = (row, above) if descending else (above, row)
            if first[column] == second[column]:
                continue
            if second[column] < first[column]:
                return Difference(number + 1, column + 1, str(row[column]), str(above[column]))
            break
    return None
