"""The newest values of a running run in the OpenMetrics text format, for Prometheus."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from dyno.bundle.inside import SESSIONS
from dyno.live.bins import NS, width_s
from dyno.live.operations import ALL, QUANTILES
from dyno.live.watched import Watched

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
FRESH_S = 15.0
"""An older value than this, against the newest of all, is not shown: its series has ended."""

_UNITS = {
    "%": ("percent", 1.0),
    "B": ("bytes", 1.0),
    "MB/s": ("bytes_per_second", 1e6),
    "1/s": ("per_second", 1.0),
    "ms": ("seconds", 1e-3),
    "s": ("seconds", 1.0),
}
"""By unit of a sample: the suffix of the metric, and the factor to its unit."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")


@dataclass
class Family:
    """A metric family: its type and lines."""

    kind: str
    unit: str = ""
    lines: list[str] = field(default_factory=list[str])


def text(watched: Watched) -> str:
    """All families of a run; only what the run is once it has ended."""
    with watched.lock:
        run = watched.run
        info = Family("info")
        labels = {"run": run.run, "verb": run.verb, "dyno": run.dyno, "status": watched.status}
        info.lines.append(f"dyno_run_info{_labels(labels)} 1")
        families = {"dyno_run": info}
        if watched.running:
            for part in (_samples, _operations, _progress):
                for name, kind, unit, line in part(watched):
                    families.setdefault(name, Family(kind, unit)).lines.append(line)
    lines: list[str] = []
    for name, family in families.items():
        lines.append(f"# TYPE {name} {family.kind}")
        if family.unit:
            lines.append(f"# UNIT {name} {family.unit}")
        lines += family.lines
    return "\n".join([*lines, "# EOF", ""])


Line = tuple[str, str, str, str]
"""Family, type, unit, line."""


def _samples(watched: Watched) -> Iterable[Line]:
    samples = watched.samples
    oldest = samples.last_ns - FRESH_S * NS
    for (source, subject, metric), (t_ns, value) in samples.newest.items():
        if t_ns < oldest or not math.isfinite(value):
            continue
        probe, _, machine = source.partition("@")
        labels = {"subject": subject, **({"machine": machine} if machine else {})}
        if probe == SESSIONS:
            wait, _, event = metric.partition("/")
            labels |= {"class": wait, "event": event}
            yield (
                "dyno_sessions_active",
                "gauge",
                "",
                f"dyno_sessions_active{_labels(labels)} {value:g}",
            )
            continue
        unit, factor = _UNITS.get(samples.units[source, subject, metric], ("", 1.0))
        name = "_".join(filter(None, ("dyno", probe, metric.removesuffix("_mbps"), unit)))
        if _NAME.fullmatch(name):
            yield name, "gauge", unit, f"{name}{_labels(labels)} {value * factor:.10g}"


def _operations(watched: Watched) -> Iterable[Line]:
    found = watched.operations
    newest = int((found.last_ns - found.origin_ns) // NS) // width_s(1) - 1
    for name, operation in found.by_name.items():
        labels = {"operation": name or "all"}
        for metric, value in (("operations", operation.done), ("errors", operation.errors)):
            line = f"dyno_{metric}_total{_labels(labels)} {value:.15g}"
            yield f"dyno_{metric}", "counter", "", line
        for quantile, share in QUANTILES.items():
            value = float(found.values(name, quantile, 1, max(newest, 0), 1)[0])
            if math.isfinite(value):
                own = _labels({**labels, "quantile": f"{share:g}"})
                line = f"dyno_latency_seconds{own} {value / 1e3:.10g}"
                yield "dyno_latency_seconds", "gauge", "seconds", line
    rate = float(found.rates(ALL, 1, max(newest, 0), 1)[0]) if found.by_name else math.nan
    if math.isfinite(rate):
        name = "dyno_throughput_per_second"
        yield name, "gauge", "per_second", f"{name} {rate:.10g}"


def _progress(watched: Watched) -> Iterable[Line]:
    found = watched.progress
    if found is None:
        return
    phase = _labels({"phase": found.phase})
    if found.total > 0:
        share = min(found.done / found.total, 1.0)
        yield "dyno_phase_done_ratio", "gauge", "ratio", f"dyno_phase_done_ratio{phase} {share:g}"
    if found.run_left_s is not None:
        name = "dyno_run_left_seconds"
        yield name, "gauge", "seconds", f"{name} {found.run_left_s:g}"


def _labels(labels: dict[str, str]) -> str:
    parts = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(parts) + "}"


def _escaped(value: str) -> str:
    found = value[:200].replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return found.encode("utf-8", "replace").decode()
