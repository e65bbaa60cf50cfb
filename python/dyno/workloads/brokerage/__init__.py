"""A brokerage house, derived from TPC-E: 33 tables, seventeen conditions (docs/decisions/0025)."""

from __future__ import annotations

from dyno.contracts.workload import Workload
from dyno.errors import UsageError
from dyno.workloads.brokerage.checks import check
from dyno.workloads.brokerage.driven import TRANSACTIONS
from dyno.workloads.brokerage.isolation import check_isolation
from dyno.workloads.brokerage.physical import FOREIGN_KEYS, INDEXES, RANGES
from dyno.workloads.brokerage.sizes import DAYS, ROW_BYTES, SCALE_BYTES

SMALLEST, LARGEST = 0.1, 10_000
_STEPS = 10
"""Steps of the scale per 1,000 customers: a step has one broker."""


def parse_scale(scale: float) -> float:
    """Parses thousands of customers.

    Raises:
        UsageError: If it is out of range, or no multiple of 0.1.
    """
    if not SMALLEST <= scale <= LARGEST:
        raise UsageError(
            f"--scale is thousands of customers, from {SMALLEST} to {LARGEST:,}, not {scale:g}."
        )
    steps = round(scale * _STEPS)
    if abs(scale * _STEPS - steps) > 1e-6:
        raise UsageError(
            f"--scale is thousands of customers in steps of {1 / _STEPS:g}, not {scale:g}. "
            f"Use {steps / _STEPS:g}."
        )
    return steps / _STEPS


WORKLOAD = Workload(
    name="brokerage",
    kind="oltp",
    title="TPC-E-derived brokerage",
    notice="Derived from TPC-E; not comparable with published TPC results.",
    bytes_per_scale=SCALE_BYTES + DAYS.usual * DAYS.bytes,
    row_bytes=ROW_BYTES,
    parse_scale=parse_scale,
    check=check,
    isolation=check_isolation,
    indexes=INDEXES,
    foreign_keys=FOREIGN_KEYS,
    ranges=RANGES,
    days=DAYS,
    transactions=TRANSACTIONS,
)
