"""Load levels in the JSON document."""

from __future__ import annotations

from typing import Any

from dyno.bundle import metrics
from dyno.bundle.metrics.oltp import Time
from dyno.bundle.phases.oltp import OltpDetail
from dyno.report.run.latencies import TIMES
from dyno.report.run.page import Level, Page


def _databases(detail: OltpDetail) -> dict[str, Any]:
    """The number of databases that a level totals, or the database of a part; else empty."""
    found = {"databases": detail.databases, "database": detail.database}
    return {name: value for name, value in found.items() if value is not None}


def level_entry(page: Page, level: Level) -> dict[str, Any]:
    """A level's load, throughput, errors and times by transaction; missing values are null."""
    at, main = level.metrics, page.operations_of(level)
    detail = level.phase.detail if level.phase else OltpDetail()
    errors = page.value(at.errors)
    # Optional: the time before throughput was steady, which only the driver's counts include
    # (scheduled, late, unsent, lag, lock, caches); the worst part of a window; work that a workload
    # schedules itself; the write lock and page caches of embedded engines.
    known = {
        key.last: value
        for key in (
            at.left_out_s,
            at.lag_p99_worst_ms,
            at.late_worst_percent,
            at.behind_ms,
            at.lost,
            at.schedule_late("p50"),
            at.schedule_late("p99"),
            at.schedule_late("max"),
            at.writer_busy_percent,
            at.writer_wait("mean"),
            at.page_hit_percent,
            at.page_reads_per_s,
            at.page_writes_per_s,
            at.page_spills_per_s,
            at.page_cache_bytes,
        )
        if (value := page.value(key)) is not None
    }
    return {
        "level": level.name,
        "users": detail.users,
        **_databases(detail),
        "mode": detail.mode,
        "tps": page.value(at.tps),
        "tps_interval": bounds(page, at.tps),
        main.per_min: page.value(at.per_min(main.plural)),
        "p95_ms": page.value(at.operation(main.main).response("p95")),
        "errors": None if errors is None else int(errors),
        "loop": detail.loop.model_dump(mode="json") if detail.loop else None,
        "unpaced": page.unpaced(level),
        **{key.last: int(page.value(key) or 0) for key in (at.scheduled, at.late, at.unsent)},
        "lag_p99_ms": page.value(at.lag_p99_ms),
        **known,
        "operations": {name: _operation(page, at.operation(name)) for name in level.operations},
    }


def _operation(page: Page, at: metrics.Operation) -> dict[str, Any]:
    counts = (at.count, at.rolled_back, at.errors, at.retries)
    times: tuple[Time, ...] = (*TIMES, "mean")
    return {
        **{key.last: int(page.value(key) or 0) for key in counts},
        **{
            f"{kind}_ms": {time: page.value(key(time)) for time in times}
            for kind, key in at.kinds.items()
        },
    }


def bounds(page: Page, key: metrics.Key) -> list[float] | None:
    """The 95 % interval of a metric, if it has one."""
    found = page.estimate(key)
    if found is None or found.low is None or found.high is None:
        return None
    return [found.low, found.high]
