"""Each profiled volume set at each fill level, with its curves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dyno.bundle import metrics
from dyno.bundle.metrics.io import Quantity, Rate
from dyno.bundle.phases.io import IoDetail
from dyno.profiles import volume_sets
from dyno.profiles.curve_metric import recorded
from dyno.profiles.volume_sets import Load, RecordedSet, Stage, loads
from dyno.report.run.page import Page
from dyno.report.storage.curves import Best, Curve
from dyno.safety.plainjson import finite

FilledSet = volume_sets.FilledSet[Curve]
"""A volume set at a fill level, with its curves from the estimates."""


def places(page: Page) -> list[FilledSet]:
    """Every volume set at every fill level, in plan order."""
    groups: dict[tuple[str, int], dict[str, list[dict[str, Any]]]] = {}
    for row in _rows(page, "io", _SHAPE):
        if isinstance(row["volume"], str) and isinstance(row["phase"], str):
            group = groups.setdefault((row["volume"], row["stage"] or 0), {})
            group.setdefault(row["phase"], []).append(row)
    jobs: dict[tuple[str, int, str], dict[str, None]] = {}
    for row in _rows(page, "io_parts", ("arm", "stage", "phase", "job")) if groups else ():
        if row["job"] is not None:
            key = (row["arm"], row["stage"] or 0, row["phase"])
            jobs.setdefault(key, {})[row["job"]] = None
    return [
        FilledSet(
            volume_set,
            stage,
            _distinguished(
                [
                    curve
                    for name, rows in groups[volume_set.label, stage.index].items()
                    if (curve := _curve(page, volume_set, stage, name, rows, jobs)).loads
                ]
            ),
        )
        for volume_set in volume_sets.volume_sets(page.run, groups)
        for stage in volume_set.stages
    ]


_SHAPE = ("volume", "stage", "phase", "pattern", "read_percent", "block_bytes", "queue_depth",
          "rate")  # fmt: skip


def _rows(page: Page, table: str, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """The distinct combinations of the columns, in table order."""
    found = page.bundle.table(table).select(list(columns)).to_pylist()
    return [dict(zip(columns, key, strict=True)) for key in dict.fromkeys(
        tuple(row[name] for name in columns) for row in found
    )]  # fmt: skip


def _curve(
    page: Page,
    volume_set: RecordedSet,
    stage: Stage,
    name: str,
    rows: list[dict[str, Any]],
    jobs: dict[tuple[str, int, str], dict[str, None]],
) -> Curve:
    of = volume_set.metrics(stage).curve(name)
    first = rows[0]
    pattern = first["pattern"] if isinstance(first["pattern"], str) else None
    about = recorded(page.run, volume_set.label, name, str(pattern))
    named = loads((row["queue_depth"], finite(row["rate"])) for row in rows if row["queue_depth"])
    kept = tuple(load for load in named.values() if page.value(of.load(load.name).iops) is not None)
    own = tuple(jobs.get((volume_set.label, stage.index, name), {}))
    return Curve(
        name=name,
        metrics=of,
        pattern=pattern,
        read_percent=first["read_percent"],
        block_bytes=first["block_bytes"] or None,
        metric=about,
        loads=kept,
        jobs=own if len(own) > 1 else (),
        volumes=volume_set.members if len(volume_set.members) > 1 else (),
        synced=_synced(page, [of.load(load.name) for load in kept]),
        settled=_settled(page, volume_set, name),
        best=_best(
            page, of, about, kept, volume_set.ceiling.of, _stopped(page, volume_set, stage, name)
        ),
    )


def _synced(page: Page, loads_of: list[metrics.StorageLoad]) -> int | None:
    """Writes per sync of the first load with syncs; None without syncs."""
    for load in loads_of:
        syncs, writes = page.value(load.syncs_per_s), page.value(load.iops)
        if syncs and writes:
            return max(1, round(writes / syncs))
    return None


def _settled(page: Page, volume_set: RecordedSet, curve: str) -> bool | None:
    """Whether a curve was steady in every repeat; None if unknown."""
    steady = [
        detail.settled[curve]
        for detail in _details(page, volume_set)
        if detail.settled and curve in detail.settled
    ]
    return all(steady) if steady else None


def _stopped(page: Page, volume_set: RecordedSet, stage: Stage, curve: str) -> str:
    """Why the searches of a curve ended; empty if unknown or different."""
    searches = [(detail.searches or {}).get(curve, {}) for detail in _details(page, volume_set)]
    found = [stages[key] for stages in searches if (key := str(stage.index)) in stages]
    words = {each.stopped for each in found if each.stopped is not None}
    return words.pop() if len(words) == 1 else ""


def _details(page: Page, volume_set: RecordedSet) -> list[IoDetail]:
    """The details of each phase of a volume set."""
    return [
        phase.detail
        for phase in page.phases_of(IoDetail)
        if phase.detail.volume == volume_set.label
    ]


def _distinguished(curves: list[Curve]) -> tuple[Curve, ...]:
    """Marks curves that have the same kind and size as another."""
    titles = [curve.title for curve in curves]
    return tuple(
        replace(curve, alike=True) if titles.count(curve.title) > 1 else curve for curve in curves
    )


def _best(
    page: Page,
    at: metrics.Curve,
    about: Rate,
    kept: tuple[Load, ...],
    of: Quantity,
    stopped: str,
) -> Best | None:
    found = page.estimate(at.best_value(about))
    if found is None:
        return None
    depth, rate = page.value(at.best_depth), page.value(at.best_rate)
    load = next(
        (load for load in kept if load.depth == depth and (rate is None or load.rate == rate)), None
    )
    confirmed = page.value(at.best_confirmed)
    return Best(
        value=found.value,
        low=found.low,
        high=found.high,
        load=load,
        latency_ms=page.value(at.best(of)),
        confirmed=None if confirmed is None else int(confirmed),
        stopped=stopped,
    )
