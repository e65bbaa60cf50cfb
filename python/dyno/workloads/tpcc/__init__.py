"""Order entry, derived from TPC-C: nine tables, five transactions, thirteen conditions."""

from __future__ import annotations

from dyno.contracts.workload import Index, Workload
from dyno.errors import UsageError
from dyno.workloads.tpcc.checks import check
from dyno.workloads.tpcc.driven import TRANSACTIONS
from dyno.workloads.tpcc.isolation import check_isolation
from dyno.workloads.tpcc.physical import FOREIGN_KEYS, RANGES

MOST_WAREHOUSES = 100_000


def parse_scale(scale: float) -> float:
    """Parses a number of warehouses.

    Raises:
        UsageError: If it is not an integer, or out of range.
    """
    if not 0 < scale <= MOST_WAREHOUSES:
        raise UsageError(
            f"The number of warehouses (--scale) must be 1 to {MOST_WAREHOUSES}, not {scale:g}. "
            "One is about 100 MB of raw data."
        )
    if scale != int(scale):
        raise UsageError(f"The number of warehouses (--scale) must be a whole number, not {scale}.")
    return scale


# Payment and Order-Status find a customer by last name and sort by first name; Order-Status finds
# a customer's last order.
INDEXES = (
    Index("customer_by_name", "customer", ("c_w_id", "c_d_id", "c_last", "c_first")),
    Index("orders_by_customer", "orders", ("o_w_id", "o_d_id", "o_c_id", "o_id")),
)

WORKLOAD = Workload(
    name="tpcc",
    kind="oltp",
    title="TPC-C-derived order entry",
    notice="Derived from TPC-C; not comparable with published TPC results.",
    bytes_per_scale=100_000_000,
    row_bytes={
        "item": 76.639,
        "warehouse": 94.0,
        "district": 97.5,
        "customer": 572.725,
        "history": 58.83,
        "stock": 306.921,
        "orders": 40.684,
        "new_order": 10.1,
        "order_line": 66.988,
    },
    parse_scale=parse_scale,
    check=check,
    isolation=check_isolation,
    indexes=INDEXES,
    foreign_keys=FOREIGN_KEYS,
    ranges=RANGES,
    transactions=TRANSACTIONS,
    usual_scale=2.0,
)
