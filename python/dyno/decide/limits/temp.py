"""Temporary files: work memory is too small, and sessions wait for what they spilled."""

from __future__ import annotations

from dyno.bundle.inside import Inside
from dyno.decide.io_waits import io_limit
from dyno.decide.view import Limit, LimitRule, View
from dyno.decide.waits import LEAST_SHARE


def _weigh(view: View) -> Limit | None:
    spilled = (Inside.temp_written, "{:.0f} MB/s spilled")
    return io_limit(view, "temp", "temp", "temporary files", spilled)


RULE = LimitRule(
    code="temp",
    definition=f"Sessions spend at least {LEAST_SHARE:.0%} of their time in temporary files.",
    explanation="More work memory, or faster storage for temporary files, would help.",
    weigh=_weigh,
    anywhere=True,
)
