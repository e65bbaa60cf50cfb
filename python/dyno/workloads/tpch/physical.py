"""Input of physical designs: references between tables, and ranges of columns."""

from __future__ import annotations

import datetime as dt

from dyno.contracts.workload import ForeignKey, Range
from dyno.workloads.tpch.checks import LINKS

FOREIGN_KEYS = tuple(
    ForeignKey(link.table, link.columns, link.other, link.other_columns)
    for link in LINKS
    if link.other != "lineitem"  # an order has several lines, so this does not refer to a key
)

_FIRST_ORDER, _LAST_ORDER = dt.date(1992, 1, 1), dt.date(1998, 8, 2)


def _days(first: int, last: int) -> Range:
    """Dates this many days after the order's (TPC-H specification 4.2.3)."""
    low, high = _FIRST_ORDER + dt.timedelta(first), _LAST_ORDER + dt.timedelta(last)
    return lambda _scale, _days=None: (low, high)


def _keys(per_scale: int) -> Range:
    return lambda scale, _days=None: (1, max(1, round(per_scale * scale)))


# Shipped 1 to 121 days after the order and committed 30 to 90; received 1 to 30 days after shipped.
# Order keys use 8 of every 32 numbers.
RANGES = {
    ("lineitem", "l_shipdate"): _days(1, 121),
    ("lineitem", "l_commitdate"): _days(30, 90),
    ("lineitem", "l_receiptdate"): _days(2, 151),
    ("lineitem", "l_orderkey"): _keys(6_000_000),
    ("orders", "o_orderdate"): _days(0, 0),
    ("orders", "o_orderkey"): _keys(6_000_000),
    ("orders", "o_custkey"): _keys(150_000),
    ("customer", "c_custkey"): _keys(150_000),
    ("part", "p_partkey"): _keys(200_000),
    ("partsupp", "ps_partkey"): _keys(200_000),
    ("supplier", "s_suppkey"): _keys(10_000),
}
