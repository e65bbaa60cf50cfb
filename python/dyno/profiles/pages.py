"""Which pages of memory the profiler's buffers were in."""

from __future__ import annotations

from typing import Literal

from dyno.bundle.phases.io import IoDetail

LEAST_PERCENT = 95.0
"""Of the buffers of every load: from so many in huge pages on they count as in these."""
_MOST_PERCENT = 5.0

Granted = Literal["huge", "ordinary", "mixed"]


def granted(detail: IoDetail) -> Granted | None:
    """The pages that a phase tells of; None if not known."""
    if detail.huge_percent is None:
        return None
    least, most = detail.huge_percent
    if least >= LEAST_PERCENT:
        return "huge"
    return "ordinary" if most <= _MOST_PERCENT else "mixed"
