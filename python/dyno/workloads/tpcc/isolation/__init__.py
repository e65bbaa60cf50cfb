"""The nine isolation scenarios of TPC-C (specification, 3.4.2), with truly concurrent sessions."""

from __future__ import annotations

from dyno.workloads.tpcc.isolation.run import check_isolation

__all__ = ["check_isolation"]
