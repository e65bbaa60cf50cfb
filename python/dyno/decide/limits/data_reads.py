"""Data: sessions wait for I/O on data files."""

from __future__ import annotations

from dyno.bundle.inside import Inside
from dyno.decide.io_waits import io_limit
from dyno.decide.view import Limit, LimitRule, View
from dyno.decide.waits import LEAST_SHARE


def _weigh(view: View) -> Limit | None:
    hits = (Inside.hit_ratio, "{:.1f} % of the page lookups hit the cache")
    return io_limit(view, "data", "data", "data files", hits)


RULE = LimitRule(
    code="data",
    definition=f"Sessions spend at least {LEAST_SHARE:.0%} of their time in I/O on data files.",
    explanation="Faster storage for the data, or more memory for caching, would help.",
    weigh=_weigh,
    anywhere=True,
)
