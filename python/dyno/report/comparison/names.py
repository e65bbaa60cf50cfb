"""The headline metrics of side-by-side runs, and their titles."""

from __future__ import annotations

import re

from dyno import workloads
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.report.comparison.gap import title_of
from dyno.report.kit.formats import operation_title, target_title

_MAINS = [one.transactions for one in map(workloads.get, workloads.names()) if one.operations]
_NAMES = re.compile(
    r"io\.(?:(?P<arm>.+)\.)?(?P<curve>[^.]+)\.(?P<io>best_iops|best_mbps|best_p95_ms)"
    r"|load\.(?P<loaded>.+)\.(?P<into>[^.]+)\.(?P<load>seconds|mb_per_s)"
    r"|dss\.(?P<target>[^./]+)"
    r"\.(?P<dss>power_total_s|geomean_s|power|throughput|composite|throughput_score)"
    r"|oltp\.(?P<level>[^.]+)\.(?:(?P<oltp>tps)"
    rf"|(?P<each>{'|'.join(main.main for main in _MAINS)})\.response_p95_ms)"
    rf"|capacity\.(?P<capacity>tps|{'|'.join(main.per_min for main in _MAINS)}|load)"
)
"""The headline metrics; --json has all."""

_METRICS = {
    "best_iops": "Best load",
    "best_mbps": "Best load",
    "best_p95_ms": "p95 at the best load",
    "seconds": "Time",
    "mb_per_s": "Rate",
    "power_total_s": "Power test total",
    "geomean_s": "Geometric mean",
    "power": "Power",
    "throughput": "Throughput",
    "composite": "Composite",
    "throughput_score": "Throughput score",
    "tps": "Transactions",
    **{main.per_min: main.plural_title for main in _MAINS},
    "load": "Load",
}


def is_headline(name: str) -> bool:
    """Whether this is a headline metric."""
    return _NAMES.fullmatch(name) is not None


def subject(bundle: Bundle, name: str) -> str:
    """The subject: ``16 users PostgreSQL``, ``Random read``; empty without a title."""
    found = _NAMES.fullmatch(name)
    if found is None:
        return ""
    if found["io"]:
        arm = f", {found['arm']}" if found["arm"] else ""
        return f"{found['curve'].replace('_', ' ').capitalize()}{arm}"
    if found["load"]:
        return f"Load {found['loaded']} into {target_title(bundle.run, found['into'])}"
    if found["dss"]:
        return f"Queries on {target_title(bundle.run, found['target'])}"
    if found["capacity"]:
        return "Maximum within limits"
    level = found["level"]
    phases = [one for one in those(bundle.run.phases, OltpDetail) if one.detail.level == level]
    return title_of(bundle, phases[-1]) if phases else level


def metric(name: str, unit: str) -> str:
    """The metric with its unit: ``New-Order p95, ms``; the estimate's own name without a title."""
    found = _NAMES.fullmatch(name)
    if found is None:
        return f"{name}, {unit}" if unit else name
    if found["each"]:
        title = f"{operation_title(found['each'])} p95"
    else:
        word = next(
            found[part] for part in ("io", "load", "dss", "oltp", "capacity") if found[part]
        )
        title = _METRICS[word]
    return f"{title}, {unit}" if unit else title
