"""Nine isolation scenarios of the brokerage, with truly concurrent sessions."""

from __future__ import annotations

from functools import partial

from dyno.workloads.brokerage.isolation.scenarios import SCENARIOS
from dyno.workloads.scenarios import play_all

check_isolation = partial(play_all, SCENARIOS)
"""Nine checks; a few orders, and the results of some, stay."""

__all__ = ["check_isolation"]
