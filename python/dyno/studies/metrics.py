"""What a study can ask about: figures of a run by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dyno.model import Estimate
from dyno.statistics.verdict import Wish


@dataclass(frozen=True)
class Metric:
    """A figure, or a family of them, of a run.

    Attributes:
        pattern: Of the names of its estimates; a group ``each`` tells those of a family apart.
        wish: Whether more of it is better, or less.
    """

    name: str
    meaning: str
    pattern: re.Pattern[str]
    wish: Wish

    def of(self, estimates: Iterable[Estimate]) -> dict[str, float]:
        """Its values in a run by name: ``tps``, or ``query_s.q09`` of a family.

        Where several levels or targets have it the last counts, as the highest load does.
        """
        found: dict[str, float] = {}
        for estimate in estimates:
            match = self.pattern.fullmatch(estimate.name)
            if match:
                each = match.groupdict().get("each")
                found[f"{self.name}.{each}" if each else self.name] = estimate.value
        return found


def _metric(name: str, pattern: str, wish: Wish, meaning: str) -> Metric:
    return Metric(name, meaning, re.compile(pattern), wish)


_OLTP, _DSS = r"oltp\.[^.]+\.", r"dss\.[^./]+\."

METRICS = {
    metric.name: metric
    for metric in (
        _metric("tps", _OLTP + "tps", "more", "transactions a second"),
        _metric("new_orders_per_min", _OLTP + "new_orders_per_min", "more", "new orders a minute"),
        _metric(
            "new_order_p95_ms", _OLTP + r"new_order\.response_p95_ms", "less",
            "95th percentile of a new order's response time, ms",
        ),
        _metric(
            "p95_ms", _OLTP + r"(?P<each>\w+)\.response_p95_ms", "less",
            "95th percentile of response times by transaction, ms",
        ),
        _metric(
            "client_cpu_ms", _OLTP + "client_cpu_ms_per_1000", "less",
            "CPU of the driver for 1,000 transactions, ms",
        ),
        _metric("total_s", _DSS + "power_total_s", "less", "time of all queries by one user, s"),
        _metric("geomean_s", _DSS + "geomean_s", "less", "geometric mean of the queries' times, s"),
        _metric("query_s", _DSS + r"(?P<each>q\d\d)\.seconds", "less", "time of each query, s"),
        _metric(
            "memory_available", r"resource\.(?!.*/)[^/]+\.memory\.host\.available\.min", "more",
            "least memory of the machine that was available, bytes",
        ),
        _metric("load_s", r"load\.[^.]+\.[^.]+\.seconds", "less", "time of the load, s"),
        _metric("load_rows", r"load\.[^.]+\.[^.]+\.rows_per_s", "more", "rows loaded a second"),
        _metric("index_s", r"index\.[^.]+\.[^.]+\.seconds", "less", "time of keys and indexes, s"),
        _metric(
            "iops", r"io\.(?P<each>[\w.+-]+)\.best_iops", "more",
            "most IOPS inside the ceiling, by curve",
        ),
        _metric("mbps", r"io\.(?P<each>[\w.+-]+)\.best_mbps", "more", "highest MB/s, by curve"),
    )
}  # fmt: skip
"""By name."""


def owner(name: str) -> Metric:
    """The metric that a value's name belongs to."""
    return METRICS[name.partition(".")[0]]
