"""Decision support, derived from TPC-H: eight tables, 22 queries, 41 orders to run them in."""

from __future__ import annotations

from dyno.contracts.workload import Index, Workload
from dyno.errors import UsageError
from dyno.workloads.tpch.checks import check
from dyno.workloads.tpch.expected import SCALES, expected
from dyno.workloads.tpch.orders import order
from dyno.workloads.tpch.physical import FOREIGN_KEYS, RANGES
from dyno.workloads.tpch.queries import QUERIES
from dyno.workloads.tpch.reference import reference
from dyno.workloads.tpch.refresh import REFRESH
from dyno.workloads.tpch.scales import LARGEST, SMALLEST, is_good, nearest_good
from dyno.workloads.tpch.streams import streams


def parse_scale(scale: float) -> float:
    """Parses a scale factor, which may be fractional.

    Raises:
        UsageError: If it is out of range, or the tables have no valid keys at it.
    """
    if not SMALLEST <= scale <= LARGEST:
        raise UsageError(
            f"The scale factor (--scale) must be from {SMALLEST} to {LARGEST}, not {scale:g}. "
            "1 is about 1 GB of raw data."
        )
    if not is_good(scale):
        near = " or ".join(f"{good:g}" for good in nearest_good(scale))
        raise UsageError(
            f"--scale {scale:g} is not valid: TPC-H's formula assigns some parts the "
            f"same supplier twice. Use {near}."
        )
    return scale


# Without the first three, correlated subqueries (Q2, Q17, Q20) and foreign-key joins scan a whole
# table per outer row. The last one is for Q6, Q14, Q15 and Q20: a month or a year of lines.
INDEXES = (
    Index("lineitem_by_part", "lineitem", ("l_partkey", "l_suppkey")),
    Index("partsupp_by_supplier", "partsupp", ("ps_suppkey",)),
    Index("orders_by_customer", "orders", ("o_custkey",)),
    Index("lineitem_by_shipdate", "lineitem", ("l_shipdate",)),
)

WORKLOAD = Workload(
    name="tpch",
    kind="dss",
    title="TPC-H-derived decision support",
    notice="Derived from TPC-H; not comparable with published TPC results.",
    usual_scale=0.1,
    bytes_per_scale=1_100_000_000,
    row_bytes={
        "part": 120.676,
        "supplier": 140.918,
        "partsupp": 148.731,
        "customer": 162.308,
        "orders": 114.635,
        "lineitem": 126.618,
        "nation": 88.96,
        "region": 77.8,
    },
    parse_scale=parse_scale,
    check=check,
    indexes=INDEXES,
    queries=QUERIES,
    order=lambda stream, _seed: order(stream),
    foreign_keys=FOREIGN_KEYS,
    ranges=RANGES,
    streams=streams,
    refresh=REFRESH,
    reference=reference,
    expected=expected,
    expected_scales=SCALES,
    classes={"simple": "q06", "average": "q01", "complex": "q14"},
)
