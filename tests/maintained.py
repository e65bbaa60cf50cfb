"""Loaded targets for tests of what happens beside and inside queries."""

from __future__ import annotations

import threading

from dyno import _core
from dyno.contracts.target import Loaded, LoadPlan, Target


def fill(
    target: Target, workload: str = "tpch", scale: float = 0.01, days: int | None = None
) -> None:
    """Loads and indexes a workload, without a bundle."""
    target.create_tables(workload, replace=False)
    target.load(LoadPlan(workload, scale, seed=1, streams=2, days=days), _core.Control())
    target.index(workload, threading.Event(), lambda done, total, text: None)
    target.mark(workload, Loaded(scale, 1, complete=True, days=days))
