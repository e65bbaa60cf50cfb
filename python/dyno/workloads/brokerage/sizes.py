"""Sizes of the generated rows, as lines of ``.tbl`` files."""

from __future__ import annotations

from dyno.contracts.workload import Days

SCALE_BYTES = 61_000_000
"""Of 1,000 customers without their trades."""

DAYS = Days(usual=10, most=300, bytes=25_000_000)

ROW_BYTES = {}
"""Measured at scale 1 and ten days."""
