"""The charts of the page, and their values for a range of time."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dyno.bundle.carriers import of_phase, of_target, rank
from dyno.bundle.inside import SESSIONS, SOURCE, WAIT_CLASSES, WaitClass
from dyno.bundle.series import Key
from dyno.live.bins import LEVELS, Array, level_for, width_s
from dyno.live.operations import ALL, QUANTILES, heat_bounds_ms
from dyno.live.watched import Watched
from dyno.safety.plainjson import finite

MOST_BINS = 4000
MOST_VOLUMES = 40
"""Volumes of one answer; the page asks for the chosen ones."""
MOST_LINES = 6
"""Lines of a chart of operations: the most frequent."""

Kind = Literal["lines", "stack", "heat"]

INSIDE = (
    ("Hit ratio", "%", ("hit_ratio",)),
    ("Pages read", "1/s", ("logical_reads", "physical_reads")),
    ("Pages written", "1/s", ("physical_writes", "checkpoint_writes")),
    ("Log", "MB/s", ("log_mbps",)),
    ("Log latency", "ms", ("log_write", "log_flush", "log_wait")),
    ("Temporary data", "MB/s", ("temp_written",)),
    ("Locks and dead rows", "count", ("locks", "dead_rows")),
    ("Connections", "count", ("connections",)),
)
"""Charts of a database: title, unit and metrics."""

VOLUME = (
    ("latency", "ms", ("read_await", "write_await")),
    ("IOPS", "1/s", ("read_iops", "write_iops")),
    ("throughput", "MB/s", ("read_mbps", "write_mbps")),
    ("queue", "count", ("queue_length",)),
    ("utilisation", "%", ("utilisation",)),
)
"""Charts of a volume."""


_WORK = {"io", "dss", "oltp", "certify"}
"""Kinds of phases whose operations are of one kind."""
_WORDS = ("_await", "_iops", "_mbps")
"""Endings of metrics that the title of a chart and its unit already say."""


@dataclass
class Chart:
    """One chart: series with a name and values in bins.

    Attributes:
        group: Heading that it stands under.
        extra: ``bounds`` of the rows of a heat map; ``colours`` of the series, if their order does
            not give them.
    """

    id: str
    group: str
    title: str
    unit: str
    kind: Kind
    names: list[str]
    values: list[Array]
    extra: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Asked:
    """What a page shows.

    Attributes:
        start_s, end_s: The range in s since the start of the run.
        bins: Most bins that it can draw.
        operation: Operation of the latency charts; empty for all.
        volumes: Names of volumes; empty for those of the databases, or the busiest.
    """

    start_s: float
    end_s: float
    bins: int = 600
    operation: str = ALL
    volumes: tuple[str, ...] = ()


def view(watched: Watched, asked: Asked) -> bytes:
    """The charts of a range: the length of a head, the head as JSON, then float32 values.

    The head states the time of the first bin, the width and number of bins, and each chart with its
    series in the order of their values. All numbers are little endian; a gap is NaN.
    """
    with watched.lock:
        level = _level(watched, asked)
        width = width_s(level)
        start = int(max(asked.start_s, 0) // width)
        count = max(1, min(int(-(-asked.end_s // width)) - start, 2 * MOST_BINS))
        charts = list(_charts(watched, asked, level, start, count))
    head = {
        "start": start * width,
        "width": width,
        "bins": count,
        "charts": [
            {"id": one.id, "group": one.group, "title": one.title, "unit": one.unit,
             "kind": one.kind, "names": one.names, **one.extra}
            for one in charts
        ],
    }  # fmt: skip
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    parts = [np.ascontiguousarray(one, "<f4").tobytes() for each in charts for one in each.values]
    return b"".join([struct.pack("<I", len(text)), text, *parts])


def _level(watched: Watched, asked: Asked) -> int:
    """The finest level that fits, and still holds the start of the range."""
    span = max(asked.end_s - asked.start_s, 1)
    level = level_for(span, max(10, min(asked.bins, MOST_BINS)))
    for one in range(level, LEVELS):
        bin_ = int(max(asked.start_s, 0) // width_s(one))
        if watched.samples.covers(one, bin_) and watched.operations.covers(one, bin_):
            return one
    return LEVELS - 1


def _charts(watched: Watched, asked: Asked, level: int, start: int, count: int) -> Iterable[Chart]:
    place = (level, start, count)
    yield from _of_operations(watched, asked, place)
    yield from _of_sessions(watched, place)
    yield from _of_machines(watched, place)
    yield from _of_databases(watched, place)
    yield from _of_volumes(watched, asked, place)


def _of_operations(watched: Watched, asked: Asked, place: tuple[int, int, int]) -> Iterable[Chart]:
    found = watched.operations
    names = found.names
    if not names:
        return
    group, shown = "Load", names[:MOST_LINES]
    title = asked.operation or "all operations"
    lines = [found.rates(name, *place) for name in shown]
    labels = list(shown)
    if len(names) > MOST_LINES:
        labels, lines = ["all operations", *labels[:-1]], [found.rates(ALL, *place), *lines[:-1]]
    yield Chart("throughput", group, "Throughput by operation", "1/s", "lines", labels, lines)
    quantiles = [found.values(asked.operation, name, *place) for name in QUANTILES]
    yield Chart("latency", group, f"Latency of {title}", "ms", "lines", [*QUANTILES], quantiles)
    p95 = [found.values(name, "p95", *place) for name in shown]
    yield Chart("p95", group, "p95 latency by operation", "ms", "lines", shown, p95)
    heat = found.values(asked.operation, "heat", *place).astype(np.float32)
    used = np.flatnonzero(heat.any(axis=0))
    if len(used):
        low, high = int(used[0]), int(used[-1]) + 1
        bounds = heat_bounds_ms()[low : high + 1]
        rows = [heat[:, row] for row in range(low, high)]
        names_ms = [f"{bound:.3g} ms" for bound in bounds[:-1]]
        yield Chart("heat", group, f"Latency distribution of {title}", "ms", "heat", names_ms,
                    rows, {"bounds": bounds})  # fmt: skip
    errors = [found.values(name, "errors", *place) for name in shown]
    if any(one.any() for one in errors):
        yield Chart("errors", group, "Errors by operation", "count", "lines", shown, errors)


_COLOURS: dict[WaitClass, int] = {
    "cpu": 2, "data": 0, "log": 1, "temp": 5, "lock": 3, "latch": 4, "client": 6, "other": 7,
}  # fmt: skip
"""Numbers of the page's colours, those that the classes have in a report."""


def _of_sessions(watched: Watched, place: tuple[int, int, int]) -> Iterable[Chart]:
    samples = watched.samples
    for subject in _subjects(watched, SESSIONS):
        keys = samples.known(SESSIONS, subject)
        by_class = {
            name: [key for key in keys if key[2].partition("/")[0] == name] for name in WAIT_CLASSES
        }
        names = [name for name in WAIT_CLASSES if by_class[name]]
        # A class that no sample names in a second with samples was not active.
        sampled = np.asarray(~np.isnan(samples.means(keys, *place)).all(axis=0))
        lines = [_sum(samples.means(by_class[name], *place), sampled) for name in names]
        colours = [_COLOURS[name] for name in WAIT_CLASSES if by_class[name]]
        yield Chart(f"sessions-{subject}", "Database", f"Active sessions of {subject}", "count",
                    "stack", names, lines, {"colours": colours})  # fmt: skip


def _of_machines(watched: Watched, place: tuple[int, int, int]) -> Iterable[Chart]:
    shown: tuple[tuple[str, str, str, Kind, str, tuple[str, ...]], ...] = (
        ("cpu", "CPU", "%", "stack", "host", ("user", "system", "iowait", "steal")),
        ("memory", "Memory", "B", "lines", "host", ("available", "cached", "dirty", "swap_used")),
        ("network", "TCP retransmits", "%", "lines", "tcp", ("retransmitted",)),
    )
    for source, title, unit, kind, subject, metrics in shown:
        for one in _sources(watched, source):
            keys = [(one, subject, metric) for metric in metrics]
            known = [key for key in keys if key in watched.samples.columns]
            machine = one.partition("@")[2]
            if known:
                name = f"{title} of {machine}" if machine else title
                values = list(watched.samples.means(known, *place))
                names = [_word(key[2]) for key in known]
                yield Chart(one, "Machine", name, unit, kind, names, values)
    yield from _of_interfaces(watched, place)


def _of_interfaces(watched: Watched, place: tuple[int, int, int]) -> Iterable[Chart]:
    """Traffic of the machines' network interfaces."""
    for source in _sources(watched, "interface"):
        machine = source.partition("@")[2]
        known = [key for key in watched.samples.known(source) if key[2].endswith("_mbps")]
        known = sorted(known)[:MOST_LINES]
        if known:
            title = f"Network of {machine}" if machine else "Network"
            names = [f"{key[1]} {key[2].removesuffix('_mbps')}" for key in known]
            values = list(watched.samples.means(known, *place))
            yield Chart(source, "Machine", title, "MB/s", "lines", names, values)


def _of_databases(watched: Watched, place: tuple[int, int, int]) -> Iterable[Chart]:
    for subject in _subjects(watched, SOURCE):
        for title, unit, metrics in INSIDE:
            known = [(SOURCE, subject, one) for one in metrics]
            known = [key for key in known if key in watched.samples.columns]
            if known:
                values = list(watched.samples.means(known, *place))
                yield Chart(f"{SOURCE}-{subject}-{metrics[0]}", "Database", f"{title} of {subject}",
                            unit, "lines", [_word(key[2]) for key in known], values)  # fmt: skip


def _of_volumes(watched: Watched, asked: Asked, place: tuple[int, int, int]) -> Iterable[Chart]:
    known = {one["name"]: one for one in volumes(watched)}
    chosen = [known[name] for name in asked.volumes if name in known]
    if not chosen:
        with_role = [one for one in known.values() if one["roles"]]
        chosen = with_role or list(known.values())
    for volume in chosen[:MOST_VOLUMES]:
        name = volume["name"]
        label = f"{name} ({', '.join(volume['roles'])})" if volume["roles"] else name
        for title, unit, metrics in VOLUME:
            keys: list[Key] = [(volume["source"], volume["device"], one) for one in metrics]
            keys = [key for key in keys if key in watched.samples.columns]
            if keys:
                values = list(watched.samples.means(keys, *place))
                names = [_word(key[2]) for key in keys]
                yield Chart(f"volume-{name}-{title}", f"Volume {label}", f"{name}: {title}", unit,
                            "lines", names, values)  # fmt: skip


def volumes(watched: Watched) -> list[dict[str, Any]]:
    """The block devices: name, roles, and their series. Those of databases first, then by name."""
    run = watched.run
    roles: dict[str, list[str]] = {}
    for target in run.targets:
        for role, devices in of_target(run, target).items():
            for device in devices:
                roles.setdefault(device, []).append(role)
    for phase in run.phases:
        for device in of_phase(run, phase) if phase.kind == "io" else ():
            roles.setdefault(device, []).append("profiled")
    found: dict[str, dict[str, Any]] = {}
    for source, subject, _ in watched.samples.columns:
        probe, _, machine = source.partition("@")
        if probe in ("disk", "nested_disk"):
            name = f"{subject}@{machine}" if machine else subject
            listed = dict.fromkeys(roles.get(name, roles.get(subject, [])))
            found.setdefault(name, {"name": name, "device": subject, "source": source,
                                    "roles": list(listed)})  # fmt: skip

    def place(one: dict[str, Any]) -> tuple[int, int, str]:
        kind, number = min(map(rank, one["roles"]), default=(99, 0))
        return kind, number, one["name"]

    return sorted(found.values(), key=place)


def headline(watched: Watched) -> dict[str, Any]:
    """The newest numbers of a running run, of the last whole bin of 4 s; else those of the run.

    A run that did work of several kinds has no throughput or latency as a whole: reads of a volume,
    queries and transactions do not add up.
    """
    found, level = watched.operations, 1
    every = found.by_name.get(ALL)
    numbers: dict[str, Any] = {}
    if every is not None and watched.running:
        newest = int((found.last_ns - found.origin_ns) // 10**9) // width_s(level) - 1
        place = (level, max(newest, 0), 1)
        numbers = {name: found.values(ALL, name, *place)[0] for name in QUANTILES}
        numbers["throughput"] = found.rates(ALL, *place)[0]
    elif every is not None and len(_WORK & {one.kind for one in watched.run.phases}) == 1:
        rows = every.levels[LEVELS - 4]
        place = (LEVELS - 4, rows.first, max(1, rows.end - rows.first))
        rates = found.rates(ALL, *place)
        numbers = {**every.quantiles_ms(), "throughput": np.nanmean(rates) if len(rates) else None}
    if every is not None:
        numbers |= {"errors": every.errors, "done": every.done}
    for name, key in (
        ("cpu", ("cpu", "host", "busy")),
        ("memory", ("memory", "host", "available")),
    ):
        moment, value = watched.samples.newest.get(key, (0, 0.0))
        if moment and watched.running:
            numbers[name] = value
    return {name: finite(float(one)) for name, one in numbers.items() if one is not None}


def _subjects(watched: Watched, source: str) -> list[str]:
    return sorted({key[1] for key in watched.samples.known(source)})


def _sources(watched: Watched, probe: str) -> list[str]:
    """The source of this machine, then those of others."""
    return sorted({key[0] for key in watched.samples.columns if key[0].partition("@")[0] == probe})


def _word(metric: str) -> str:
    """The name of a line: the metric without what the title says."""
    ending = next((one for one in _WORDS if metric.endswith(one)), "")
    return metric.removesuffix(ending).replace("_", " ")


def _sum(values: Array, sampled: Array) -> Array:
    return np.where(sampled, np.nansum(values, axis=0), np.nan).astype(np.float32)
