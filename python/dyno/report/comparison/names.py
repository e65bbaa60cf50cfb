"""The headline metrics of side-by-side runs, and their titles."""

from __future__ import annotations

from dyno import workloads
from dyno.bundle import metrics
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.report.comparison.gap import title_of
from dyno.report.kit.formats import operation_title, target_title

_MAINS = [one.transactions for one in map(workloads.get, workloads.names()) if one.operations]
_C, _Q = metrics.Curve, metrics.Queries
_TITLES = {
    _C.best_iops: "Best load",
    _C.best_mbps: "Best load",
    _C.best("p95"): "p95 at the best load",
    metrics.Load.seconds: "Time",
    metrics.Load.mb_per_s: "Rate",
    _Q.power_total_s: "Power test total",
    _Q.geomean_s: "Geometric mean",
    _Q.power: "Power",
    _Q.throughput: "Throughput",
    _Q.composite: "Composite",
    _Q.throughput_score: "Throughput score",
    metrics.Level.tps: "Transactions",
    metrics.Operation.response("p95"): "p95",
    metrics.Capacity.tps: "Transactions",
    **{metrics.Capacity.per_min(main.plural): main.plural_title for main in _MAINS},
}
"""The headline metrics; --json has all."""


def is_headline(name: str) -> bool:
    """Whether this is a headline metric."""
    return _found(name) is not None


def _found(name: str) -> tuple[metrics.Metric, dict[str, str]] | None:
    """The headline metric of this name and the parts of its scope; None for other names."""
    for one in _TITLES:
        match = one.pattern.fullmatch(name)
        parts = match.groupdict("") if match else {}
        if match and parts.get("operation", _MAINS[0].main) in {main.main for main in _MAINS}:
            return one, parts
    return None


def subject(bundle: Bundle, name: str) -> str:
    """The subject: ``16 users PostgreSQL``, ``Random read``; empty without a title."""
    found = _found(name)
    if found is None:
        return ""
    one, parts = found
    if one.owner is metrics.Curve:
        where = f", {parts['place']}" if parts["place"] else ""
        return f"{parts['curve'].replace('_', ' ').capitalize()}{where}"
    if one.owner is metrics.Load:
        return f"Load {parts['workload']} into {target_title(bundle.run, parts['target'])}"
    if one.owner is metrics.Queries:
        return f"Queries on {target_title(bundle.run, parts['target'])}"
    if one.owner is metrics.Capacity:
        return "Maximum within limits"
    level = parts["level"]
    phases = [one for one in those(bundle.run.phases, OltpDetail) if one.detail.level == level]
    return title_of(bundle, phases[-1]) if phases else level


def metric(name: str, unit: str) -> str:
    """The metric with its unit: ``New-Order p95, ms``; the estimate's own name without a title."""
    found = _found(name)
    title = name
    if found is not None:
        one, parts = found
        title = _TITLES[one]
        if "operation" in parts:
            title = f"{operation_title(parts['operation'])} {title}"
    return f"{title}, {unit}" if unit else title
