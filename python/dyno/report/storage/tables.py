"""Tables of a storage profile for a terminal: lines of at most 66 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.bundle import metrics
from dyno.bundle.metrics.io import SIDES, Rate
from dyno.profiles.volume_sets import Ceiling, Load
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page
from dyno.report.storage.curves import Curve, load_title, rates

COLUMNS = 66
_LABEL = 21
_MOST_VOLUMES = 6


def cut(text: str, columns: int = COLUMNS) -> str:
    """Truncates a text to a number of columns."""
    text = text.replace("\N{NARROW NO-BREAK SPACE}", " ")
    return text if len(text) <= columns else f"{text[: columns - 1].rstrip()}…"


def heading(about: Rate, ceiling: Ceiling) -> str:
    """``IOPS, p95 <= 20 ms``."""
    return "MB/s" if about == "mbps" else f"IOPS, {ceiling.of} <= {rounded(ceiling.ms)} ms"


def table(
    head: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]
) -> list[str]:
    """A header, then a line per row; columns that do not fit follow below."""
    cells = [text for _, texts in rows for text in texts]
    width = 2 + max(len(text) for text in [*cells, *(cut(name, 14) for name in columns), ""])
    beside = max(1, (COLUMNS - _LABEL) // width)
    lines: list[str] = []
    for start in range(0, len(columns), beside):
        for label, texts in [(head, [cut(name, width - 2) for name in columns]), *rows]:
            own = "".join(f"{text:>{width}}" for text in texts[start : start + beside])
            if label or own.strip():
                lines.append(f"{cut(label, _LABEL - 1):<{_LABEL}}{own}")
    return lines


def of_rates(page: Page, curves: Iterable[Curve]) -> list[str]:
    """Open loops: offered rate, achieved rate, and p95 of both latencies."""
    rows: list[tuple[str, list[str]]] = []
    for curve in curves:
        for place, load in enumerate(curve.loads):
            at = curve.at(load)
            cells = [rounded(load.rate), rounded(page.value(at.iops))]
            cells += [rounded(slowest(page, at, response=kind)) for kind in (True, False)]
            rows.append(("" if place else curve.short.removesuffix(", rate"), cells))
    head = "p95 of latency in ms"
    return table(head, ["offered/s", "done/s", "response", "service"], rows) if rows else []


def of_syncs(page: Page, curves: Iterable[Curve]) -> list[str]:
    """Logs: durable writes, syncs, and p95 of writes and syncs."""
    rows: list[tuple[str, list[str]]] = []
    for curve in curves:
        load = shown_load(curve)
        if load is not None:
            at = curve.at(load)
            keys = [at.iops, at.syncs_per_s, *(at.side(s).service("p95") for s in SIDES[1:])]
            rows.append((curve.short, [rounded(page.value(key)) for key in keys]))
    head = "p95 of latency in ms"
    return table(head, ["writes/s", "syncs/s", "write", "sync"], rows) if rows else []


def slowest(page: Page, at: metrics.Part, *, response: bool = False) -> float | None:
    """The p95 of the slower of reads and writes at a load, in ms."""
    keys = [at.side(side).latency("p95", response=response) for side in SIDES[:2]]
    found = [page.value(key) for key in keys]
    return max((value for value in found if value is not None), default=None)


def shown_load(curve: Curve) -> Load | None:
    """The load to show by part: the best load, or the smallest."""
    if curve.best is not None and curve.best.load is not None:
        return curve.best.load
    return next(iter(curve.loads), None)


def of_jobs(page: Page, curve: Curve) -> list[str]:
    """Concurrent jobs at the best load of their curve."""
    load = shown_load(curve)
    if load is None:
        return []
    rows: list[tuple[str, list[str]]] = []
    for job in curve.jobs:
        at = curve.at(load).job(job)
        keys = [at.iops, at.mbps, *(at.side(side).service("p95") for side in SIDES)]
        rows.append((job, [rounded(page.value(key)) for key in keys]))
    head = f"p95, ms; {load_title(load).removeprefix('queue ')}"
    return table(head, ["IOPS", "MB/s", *SIDES], rows)


def of_volumes(page: Page, curves: Iterable[Curve]) -> list[str]:
    """The result of each of several concurrent volumes at their joint best load."""
    lines: list[str] = []
    for about, own in by_metric([curve for curve in curves if curve.volumes and curve.best]):
        names = own[0].volumes
        rows: list[tuple[str, list[str]]] = []
        for curve in own:
            load = shown_load(curve)
            keys = [] if load is None else [curve.at(load).volume(n).rate(about) for n in names]
            values = [page.value(key) for key in keys]
            known = [value for value in values if value is not None]
            if len(names) <= _MOST_VOLUMES:
                rows.append((curve.short, [rounded(value) for value in values]))
            elif known:
                rows.append((curve.short, [rounded(min(known)), rounded(max(known))]))
        unit = "MB/s" if about == "mbps" else "IOPS"
        few = len(names) <= _MOST_VOLUMES
        lines += table(f"each volume's {unit}", names if few else ("lowest", "highest"), rows)
    return lines


def by_metric(curves: Iterable[Curve]) -> Iterable[tuple[Rate, list[Curve]]]:
    """The curves grouped by metric."""
    listed = list(curves)
    for about in rates(listed):
        yield about, [curve for curve in listed if curve.metric == about]
