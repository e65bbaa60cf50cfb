"""The nine isolation scenarios of TPC-C (specification, 3.4.2), with truly concurrent sessions."""

from __future__ import annotations

from functools import partial

from dyno.workloads.scenarios import play_all
from dyno.workloads.tpcc.isolation.scenarios import SCENARIOS

check_isolation = partial(play_all, SCENARIOS)
"""Nine checks; a few orders, payments and a delivery stay."""

__all__ = ["check_isolation"]
