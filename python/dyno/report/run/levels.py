"""Load levels in the JSON document."""

from __future__ import annotations

from typing import Any

from dyno.bundle.model import Phase
from dyno.bundle.phases.oltp import OltpDetail
from dyno.report.run.latencies import KINDS, TIMES
from dyno.report.run.page import Page

_WHERE_KNOWN = (
    *("lag_p99_worst_ms", "late_worst_percent"),
    *("writer_busy_percent", "writer_wait_mean_ms"),
)
"""Optional metrics: the worst part of a window, and the write lock of single-writer engines."""


def _databases(detail: OltpDetail) -> dict[str, Any]:
    """The number of databases that a level totals, or the database of a part; else empty."""
    told = {"databases": detail.databases, "database": detail.database}
    return {name: value for name, value in told.items() if value is not None}


def level_entry(page: Page, level: str, phase: Phase[OltpDetail] | None) -> dict[str, Any]:
    """A level's load, throughput, errors and times by transaction; missing values are null."""
    name = f"oltp.{level}"
    detail = phase.detail if phase else OltpDetail()
    errors = page.value(f"{name}.errors")
    known = {
        label: value
        for label in _WHERE_KNOWN
        if (value := page.value(f"{name}.{label}")) is not None
    }
    return {
        "level": level,
        "users": detail.users,
        **_databases(detail),
        "mode": detail.mode,
        "tps": page.value(f"{name}.tps"),
        "tps_interval": bounds(page, f"{name}.tps"),
        page.transactions.per_min: page.value(f"{name}.{page.transactions.per_min}"),
        "p95_ms": page.value(f"{name}.{page.transactions.p95}"),
        "errors": None if errors is None else int(errors),
        "loop": detail.loop.model_dump(mode="json") if detail.loop else None,
        "unpaced": page.unpaced(level),
        **{
            name: int(page.value(f"oltp.{level}.{name}") or 0)
            for name in ("scheduled", "late", "unsent")
        },
        "lag_p99_ms": page.value(f"{name}.lag_p99_ms"),
        **known,
        "operations": {
            operation: {
                **{
                    count: int(page.value(f"{name}.{operation}.{count}") or 0)
                    for count in ("count", "rolled_back", "errors", "retries")
                },
                **{
                    f"{kind}_ms": {
                        time: page.value(f"{name}.{operation}.{kind}_{time}_ms")
                        for time in (*TIMES, "mean")
                    }
                    for kind in KINDS
                },
            }
            for operation in page.between(f"{name}.", ".per_s")
        },
    }


def bounds(page: Page, name: str) -> list[float] | None:
    """The 95 % interval of a metric, if it has one."""
    found = page.estimate(name)
    if found is None or found.low is None or found.high is None:
        return None
    return [found.low, found.high]
