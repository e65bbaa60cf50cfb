"""Memory pages of the profiler buffers."""

from __future__ import annotations

from typing import Literal

from dyno.bundle.phases.io import IoDetail

LEAST_PERCENT = 95.0
"""Minimum share of huge pages, for every load, at which buffers count as in huge pages."""
_MOST_PERCENT = 5.0

Granted = Literal["huge", "ordinary", "mixed"]


def granted(detail: IoDetail) -> Granted | None:
    """Returns the pages of a phase; None if unknown."""
    if detail.huge_percent is None:
        return None
    least, most = detail.huge_percent
    if least >= LEAST_PERCENT:
        return "huge"
    return "ordinary" if most <= _MOST_PERCENT else "mixed"
