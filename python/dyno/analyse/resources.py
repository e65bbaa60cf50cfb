"""Resources: what processors, devices and memory did in each measured phase."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.analyse.level import level
from dyno.analyse.rows import rows
from dyno.analyse.series import Series, sampled
from dyno.bundle import Bundle
from dyno.model import Estimate, Phase
from dyno.series import Key

MEASURED = frozenset({"io", "load", "index", "dss", "oltp"})
"""Kinds of phases whose figures are a result."""

# What is worth a figure a phase, by the source of the samples; None is every metric of it.
_SOURCES: dict[str, frozenset[str] | None] = {
    "cpu": frozenset({"busy", "user", "system", "iowait", "steal", "busiest_core"}),
    "disk": None,
    "memory": frozenset({"available", "swap_used"}),
    "network": frozenset({"retransmitted"}),
    "pressure": None,
    "process": frozenset({"cpu", "rss"}),
}


def resources(bundle: Bundle) -> list[Estimate]:
    """``resource.<phase>.<source>.<subject>.<metric>.<mean|max|min>`` of each measured phase.

    Transactions count from the end of their warm-up, queries from their first measured one.
    """
    series = {
        key: one
        for key, one in sampled(bundle).items()
        if key[0] in _SOURCES and key[2] in (_SOURCES[key[0]] or {key[2]})
    }
    estimates: list[Estimate] = []
    for phase in bundle.run.phases:
        if phase.kind not in MEASURED or phase.end_ns is None:
            continue
        start, end = _window(bundle, phase)
        estimates += _phase(f"resource.{phase.name}", series, start, end)
    return estimates


def _window(bundle: Bundle, phase: Phase) -> tuple[int, int]:
    start, end = phase.start_ns, phase.end_ns or phase.start_ns
    if phase.kind == "oltp":
        name = phase.detail.get("level")
        found = level(bundle, str(name)) if name in bundle.levels() else None
        if found is not None:
            return found.rates.start_ns, found.rates.end_ns
    if phase.kind == "dss":
        starts = [
            row["t_ns"]
            for row in rows(bundle, "queries")
            if row["target"] == phase.target and start <= row["t_ns"] <= end
        ]
        return min(starts, default=start), end
    return start, end


def _phase(name: str, series: dict[Key, Series], start_ns: int, end_ns: int) -> Iterable[Estimate]:
    source = "samples in the phase"
    longest = 0
    for (origin, subject, metric), one in series.items():
        values = one.between(start_ns, end_ns)
        longest = max(longest, len(values))
        if not values:
            continue
        figures = {"mean": sum(values) / len(values), "max": max(values)}
        if origin == "memory":
            figures["min"] = min(values)
        for figure, value in figures.items():
            yield Estimate(
                name=f"{name}.{origin}.{subject}.{metric}.{figure}",
                value=value,
                unit=one.unit,
                source=source,
            )
    yield Estimate(name=f"{name}.samples", value=longest, unit="", source=source)
