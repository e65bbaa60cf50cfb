"""Which pages of memory the profiler's buffers were in."""

from __future__ import annotations

from typing import Any, Literal

LEAST_PERCENT = 95.0
"""Of the buffers of every load: from so many in huge pages on they count as in these."""
_MOST_PERCENT = 5.0

Granted = Literal["huge", "ordinary", "mixed"]


def granted(detail: dict[str, Any]) -> Granted | None:
    """The pages, told by a phase of a bundle, which is untrusted input; None if not known."""
    told = detail.get("huge_percent")
    if not isinstance(told, list) or len(told) != 2:
        return None
    if not all(isinstance(value, int | float) for value in told):
        return None
    least, most = (float(value) for value in told)
    if least >= LEAST_PERCENT:
        return "huge"
    return "ordinary" if most <= _MOST_PERCENT else "mixed"
