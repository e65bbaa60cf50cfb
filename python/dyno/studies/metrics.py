"""What a study can ask about: figures of a run by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dyno import workloads
from dyno.bundle.model import Estimate
from dyno.contracts.transactions import Transactions
from dyno.statistics.verdict import Wish

Verb = Literal["run", "load", "both"]


@dataclass(frozen=True)
class Metric:
    """A figure, or a family of them, of a run.

    Attributes:
        pattern: Of the names of its estimates; a group ``each`` tells those of a family apart.
        wish: Whether more of it is better, or less; neither of what says how busy a machine was,
            which is as welcome as the work that came of it.
        verb: The verb whose bundles have it; a storage profile counts as a run.
        kind: Of the workloads whose bundles have it: ``oltp``, ``dss`` or ``io``; empty for all.
        otherwise: Of what counts in runs that have nothing of ``pattern``.
    """

    name: str
    meaning: str
    pattern: re.Pattern[str]
    wish: Wish
    verb: Verb = "run"
    kind: str = ""
    otherwise: re.Pattern[str] | None = None

    def of(self, estimates: Iterable[Estimate]) -> dict[str, float]:
        """Its values in a run by name: ``tps``, or ``query_s.q09`` in a family.

        If several levels or targets have it, the last one counts.
        """
        listed = list(estimates)
        found = self._matching(self.pattern, listed)
        if not found and self.otherwise is not None:
            return self._matching(self.otherwise, listed)
        return found

    def _matching(
        self, pattern: re.Pattern[str], estimates: Iterable[Estimate]
    ) -> dict[str, float]:
        found: dict[str, float] = {}
        for estimate in estimates:
            match = pattern.fullmatch(estimate.name)
            if match:
                each = match.groupdict().get("each")
                found[f"{self.name}.{each}" if each else self.name] = estimate.value
        return found


def _metric(
    name: str,
    pattern: str,
    wish: Wish,
    meaning: str,
    verb: Verb = "run",
    otherwise: str | None = None,
) -> Metric:
    other = None if otherwise is None else re.compile(otherwise)
    kind = next((kind for start, kind in _KINDS.items() if pattern.startswith(start)), "")
    return Metric(name, meaning, re.compile(pattern), wish, verb, kind, other)


_OLTP, _DSS = r"oltp\.[^.]+\.", r"dss\.[^./]+\."
_LOAD, _INDEX = r"load\.[^.]+\.[^.]+\.", r"index\.[^.]+\.[^.]+\."
_DURING = r"during\.[^.]+\.during_"
_MEAN = r"resource\.(?!index-)[^./]+\."  # a load's rows, not its indexes
_IO = r"io\.(?:fill[\d_]+\.)?(?P<each>[\w.+-]+)\."
_FILL = r"io\.(?P<each>(?:[\w+-]+\.)?fill[\d_]+\.[\w+-]+)\."
_KINDS = {_OLTP: "oltp", _DURING: "oltp", _DSS: "dss", _IO: "io", _FILL: "io"}

_MAINS = [one.transactions for one in map(workloads.get, workloads.names()) if one.operations]


def _a(main: Transactions) -> str:
    return main.main.replace("_", " ")


_A_MAIN = " or ".join(_a(main) for main in _MAINS)


def _headline(main: Transactions) -> Iterable[Metric]:
    """The metrics of a workload's main operation."""
    name = f"{main.main}_p95_ms"
    yield _metric(
        main.per_min, _OLTP + main.per_min, "more", f"{main.plural_title.lower()} per minute"
    )
    meaning = f"{_a(main)} p95 response time, ms"
    yield _metric(name, _OLTP + re.escape(main.p95), "less", meaning)


METRICS = {
    metric.name: metric
    for metric in (
        _metric("tps", _OLTP + "tps", "more", "transactions per second"),
        *(one for main in _MAINS for one in _headline(main)),
        _metric(
            "p95_ms", _OLTP + r"(?P<each>\w+)\.response_p95_ms", "less",
            "response time p95 by transaction, ms",
        ),
        _metric(
            "client_cpu_ms", _OLTP + "client_cpu_ms_per_1000", "less",
            "driver CPU per 1,000 transactions, ms",
        ),
        _metric(
            "tps_beside", _DURING + "tps", "more",
            "transactions per second during maintenance, or overall without maintenance",
            otherwise=_OLTP + "tps",
        ),
        _metric(
            "p95_beside_ms", _DURING + "p95_ms", "less",
            f"{_A_MAIN} p95 response time during maintenance, ms",
            otherwise=_OLTP + rf"(?:{'|'.join(main.main for main in _MAINS)})\.response_p95_ms",
        ),
        _metric("total_s", _DSS + "power_total_s", "less", "power test total, s"),
        _metric("geomean_s", _DSS + "geomean_s", "less", "geometric mean of query times, s"),
        _metric("query_s", _DSS + r"(?P<each>q\d\d)\.seconds", "less", "query time, s"),
        _metric(
            "memory_available", r"resource\.(?!.*/)[^/]+\.memory\.host\.available\.min", "more",
            "minimum available memory, bytes", "both",
        ),
        _metric(
            "users_total_s", _DSS + "throughput_total_s", "less",
            "throughput test total, s",
        ),
        _metric(
            "queries_per_h", _DSS + r"throughput(?:_score)?", "more",
            "queries per hour of all streams times scale factor",
        ),
        _metric("load_s", _LOAD + "seconds", "less", "load time, s", "load"),
        _metric("load_rows", _LOAD + "rows_per_s", "more", "rows loaded per second", "load"),
        _metric(
            "load_bytes", _LOAD + "rest_bytes", "less",
            "table size without keys and indexes, bytes", "load",
        ),
        _metric("index_s", _INDEX + "seconds", "less", "index creation time, s", "load"),
        _metric(
            "step_s", _INDEX + r"(?P<each>\w+)\.seconds", "less",
            "index creation time by kind, s", "load",
        ),
        _metric(
            "step_bytes", _INDEX + r"(?P<each>\w+)\.rest_bytes", "less",
            "index size by kind, bytes", "load",
        ),
        _metric(
            "step_room", _INDEX + r"(?P<each>\w+)\.peak_ratio", "less",
            "peak extra space of index creation by kind, relative to the table", "load",
        ),
        _metric(
            "cpu_percent", _MEAN + r"cpu\.host\.busy\.mean", "neither",
            "CPU utilisation, %", "both",
        ),
        _metric(
            "read_mbps", _MEAN + r"disk\.(?P<each>[\w-]+)\.read_mbps\.mean", "neither",
            "read MB/s by device", "both",
        ),
        _metric(
            "queue", _MEAN + r"disk\.(?P<each>[\w-]+)\.queue_length\.mean", "neither",
            "queue length by device", "both",
        ),
        _metric(
            "iops", _IO + "best_iops", "more",
            "best IOPS by curve (highest fill level)",
        ),
        _metric(
            "mbps", _IO + "best_mbps", "more",
            "best MB/s by curve (highest fill level)",
        ),
        _metric(
            "iops_by_fill", _FILL + "best_iops", "more",
            "best IOPS by fill level and curve",
        ),
        _metric("mbps_by_fill", _FILL + "best_mbps", "more", "best MB/s by fill level and curve"),
    )
}  # fmt: skip
"""By name."""


def had_by(workload: str, verb: Verb) -> list[str]:
    """Names of the metrics that runs or loads of a workload have."""
    kind = workloads.named(workload).kind if workload in workloads.names() else workload
    return [
        name
        for name, metric in METRICS.items()
        if metric.kind in ("", kind) and metric.verb in (verb, "both")
    ]


def owner(name: str) -> Metric:
    """The metric that a value's name belongs to."""
    return METRICS[name.partition(".")[0]]
