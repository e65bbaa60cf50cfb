"""Rows of a bundle's tables, with real histograms."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from dyno.bundle.inside import Inside
from tests import bundle_data as data


def histogram(count: int, median_ms: float, spread: float = 0.35, tail: float = 1.0) -> str:
    """An encoded log-normal distribution of ``count`` latencies."""
    return _histogram(count, round(median_ms * 1e6), spread, tail)


@functools.lru_cache(maxsize=4096)
def _histogram(count: int, median_ns: int, spread: float, tail: float) -> str:
    from hdrh.histogram import HdrHistogram

    latencies = HdrHistogram(1, 3_600_000_000_000, 3)
    normal, steps = NormalDist(), min(count, 200)
    placed = 0
    for step in range(steps):
        share = (step + 0.5) / steps
        due = round(count * (step + 1) / steps) - placed
        placed += due
        value = median_ns * math.exp(spread * normal.inv_cdf(share))
        if due:
            latencies.record_value(max(1, int(value * (tail if share > 0.99 else 1.0))), due)
    return latencies.encode().decode()


def io_row(
    curve: str, depth: int, iops: float, step_s: float, ceiling: float, median: float = 0
) -> dict[str, Any]:
    sequential = curve.startswith("sequential")
    block = 262_144 if sequential else 8192
    percent = {"sequential_write": 0, "mixed": 70}.get(curve, 100)
    total = round(iops * step_s)
    reads = round(total * percent / 100)
    writes = total - reads
    median = median or depth / iops * 1000
    beyond = curve == "mixed" and depth == 256
    return {
        "seconds": step_s,
        "volume": "/srv/dyno-runs",
        "phase": curve,
        "pattern": "sequential" if sequential else "random",
        "block_bytes": block,
        "read_percent": percent,
        "queue_depth": depth,
        "reads": reads,
        "writes": writes,
        "read_bytes": reads * block,
        "write_bytes": writes * block,
        "errors": "{}",
        "read_latency": histogram(reads, median),
        "write_latency": histogram(writes, median * 1.3, 0.45 if beyond else 0.4),
        "in_flight_mean": depth * 0.98,
        "inside_ceiling": not beyond or ceiling > 40,
    }


def second_rows(
    moment: int, phase: str, rate: float, median: float, error_share: float
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, (share, relative, rollbacks) in data.OPERATIONS.items():
        count = round(rate * share)
        rolled_back, failed = round(count * rollbacks), round(count * error_share)
        service = median * relative
        rows.append({
            "t_ns": moment,
            "seconds": 1.0,
            "phase": phase,
            "op": name,
            "done": count - rolled_back - failed,
            "rolled_back": rolled_back,
            "errors": {"deadlock": failed} if failed else {},
            "retries": {},
            "response": histogram(count - failed, service * 1.02, 0.4, 2.5),
            "service": histogram(count - failed, service, 0.4, 2.5),
        })  # fmt: skip
    return rows


def inside_rows(target: str, moments: Sequence[int]) -> list[dict[str, Any]]:
    """Samples of a database and its sessions, one reading at each moment."""
    rows: list[dict[str, Any]] = []
    for place, t_ns in enumerate(moments):
        wave = 1 + 0.2 * math.sin(place * 0.9)
        database = {one: value * wave for one, value in data.INSIDE.items()}
        database[Inside.hit_ratio] = min(99.9, 96 + wave)
        rows += [
            {"t_ns": t_ns, "source": "database", "subject": target, "metric": one.value,
             "value": value, "unit": one.unit}
            for one, value in database.items()
        ]  # fmt: skip
        sessions = {"cpu/running": 1.1 * wave, "log/WALSync": 1.7 / wave, "data/DataFileRead": 0.6}
        if place % 3 == 0:  # a wait that was not seen has no sample
            sessions["lock/transactionid"] = 0.9
        rows += [
            {"t_ns": t_ns, "source": "sessions", "subject": target, "metric": event,
             "value": value, "unit": "count"}
            for event, value in sessions.items()
        ]  # fmt: skip
    return rows
