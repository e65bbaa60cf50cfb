"""Analysis of the order entry, after CH-benCHmark: 22 queries on the tables of ``tpcc``.

The tables of ``tpcc`` serve both workloads. Three small ones that the queries need besides are next
to them: region, nation and supplier.

Source of the idea and its facts: R. Cole et al., "The mixed workload CH-benCHmark", DBTest 2011.
"""

from __future__ import annotations

from dyno.contracts.freshness import Freshness
from dyno.contracts.workload import ForeignKey, Workload
from dyno.errors import UsageError
from dyno.workloads import tpcc
from dyno.workloads.ch.checks import check
from dyno.workloads.ch.expected import SEED, SHIPPED, changed
from dyno.workloads.ch.queries import QUERIES
from dyno.workloads.tpch.orders import order

MOST_WAREHOUSES = 21_474
"""Products of a warehouse and one of 100,000 items fit into 32 bits."""


def parse_scale(scale: float) -> float:
    """Parses a number of warehouses.

    Raises:
        UsageError: If it is not an integer, or out of range.
    """
    if tpcc.parse_scale(scale) > MOST_WAREHOUSES:
        raise UsageError(
            f"The number of warehouses (--scale) must be at most {MOST_WAREHOUSES} for ch, not "
            f"{scale:g}: it multiplies warehouses and items as 32-bit integers."
        )
    return scale


WORKLOAD = Workload(
    name="ch",
    kind="dss",
    title="CH-benCHmark-derived analysis of the order entry",
    notice="Derived from TPC-C, TPC-H and CH-benCHmark; not comparable with published results.",
    usual_scale=2.0,
    bytes_per_scale=tpcc.WORKLOAD.bytes_per_scale,
    row_bytes={"region": 35.0, "nation": 36.806, "supplier": 91.617},
    parse_scale=parse_scale,
    check=check,
    queries=QUERIES,
    order=lambda stream, _seed: order(stream),
    foreign_keys=(
        ForeignKey("nation", ("n_regionkey",), "region", ("r_regionkey",)),
        ForeignKey("supplier", ("su_nationkey",), "nation", ("n_nationkey",)),
    ),
    expected=SHIPPED.expected,
    expected_scales=SHIPPED.scales,
    expected_seed=SEED,
    changed=changed,
    freshness=Freshness(
        # An order and the next number of its district commit together.
        newest="""
            SELECT o_w_id, o_d_id, o_id, o_entry_d
            FROM district, orders
            WHERE o_w_id = d_w_id AND o_d_id = d_id AND o_id = d_next_o_id - 1
        """,
        began="""
            SELECT o_entry_d
            FROM orders
            WHERE o_w_id = {key1} AND o_d_id = {key2} AND o_id = {number}
        """,
    ),
)
