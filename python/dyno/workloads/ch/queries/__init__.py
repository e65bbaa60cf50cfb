"""The 22 analytical queries on the tables of the order entry, one file each.

Each takes the shape of the TPC-H query of its number to TPC-C's tables, as CH-benCHmark does; the
statements are Dyno's own. CH-benCHmark's facts: a supplier's stock is that with the remainder of
warehouse times item, and a customer's nation follows from the first letter of the state. On loaded
data all delivered lines are free and all quantities are 5, so that conditions are on what differs:
amounts of open lines, stock, prices and discounts. Open ranges of time include new orders.
"""

from __future__ import annotations

from dyno.contracts.workload import Query
from dyno.workloads.ch.queries import (
    q01,
    q02,
    q03,
    q04,
    q05,
    q06,
    q07,
    q08,
    q09,
    q10,
    q11,
    q12,
    q13,
    q14,
    q15,
    q16,
    q17,
    q18,
    q19,
    q20,
    q21,
    q22,
)

QUERIES: tuple[Query, ...] = (
    q01.QUERY,
    q02.QUERY,
    q03.QUERY,
    q04.QUERY,
    q05.QUERY,
    q06.QUERY,
    q07.QUERY,
    q08.QUERY,
    q09.QUERY,
    q10.QUERY,
    q11.QUERY,
    q12.QUERY,
    q13.QUERY,
    q14.QUERY,
    q15.QUERY,
    q16.QUERY,
    q17.QUERY,
    q18.QUERY,
    q19.QUERY,
    q20.QUERY,
    q21.QUERY,
    q22.QUERY,
)
