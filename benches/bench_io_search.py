"""The ceiling search beside an exhaustive sweep: what it finds, and how long it takes.

Targets: at least 0.95 of the sweep's best in at most 0.20 of its windows; its own results vary by
at most 3 % (standard deviation by mean). The sweep measures every second depth from 1 to 255; both
have windows of the same length and take turns. What a depth gives is the median over all sweeps, so
that a lucky window makes no best; the best is the most of those depths whose p95 is inside the
ceiling. A search's own result is compared with it, which has the disk's wavering since the sweeps
in it, and the best of 128 wavering values is a lucky one. So the choices are compared as well: the
depth of a search and that of the one sweep before it are both judged by what all other sweeps gave
there and at the depths beside it. The noise of the disk is that of one depth over the sweeps.
First on the null engine, whose best is known and which is quiet, then on a file of the disk.
`python benches/bench_io_search.py [ROUNDS [STEP]]`
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import scratch
from storage import engine, prepared

MOST = 256
SECONDS = 0.25
WARMUP = 0.1
CEILING_MS = 2.0
FILE = 1 << 30


@dataclass(frozen=True)
class Found:
    """A search's result; no I/O where not even the least load was inside the ceiling."""

    depth: int
    iops: float
    windows: int
    wall_s: float


def plan(target: dict[str, Any], load: dict[str, Any], depths: list[int]) -> dict[str, Any]:
    job = {
        "name": "bench", "pattern": "random", "block_bytes": 8192, "read_percent": 100,
        "queue_depths": depths,
    }  # fmt: skip
    step = {
        "name": "bench", "seconds": SECONDS, "warmup_seconds": WARMUP, "stop_at_ceiling": False,
        "jobs": [job], **load,
    }  # fmt: skip
    return {**target, "ceiling_ms": CEILING_MS, "steps": [step]}


def sweep(folder: Path, target: dict[str, Any], every: int) -> tuple[list[dict[str, Any]], float]:
    outcome, cost = engine(folder, plan(target, {}, list(range(1, MOST + 1, every))))
    return outcome["steps"], cost.wall_s


def search(folder: Path, target: dict[str, Any]) -> Found:
    asked = {"search": {"most": MOST, "resolution_percent": 5, "confirm": 2}}
    outcome, cost = engine(folder, plan(target, asked, [1]))
    steps = outcome["steps"]
    best = outcome["best"].get("bench")
    if best is None:
        return Found(0, 0.0, len(steps), cost.wall_s)
    depth = steps[best]["queue_depth"]
    confirming = [
        step["iops"]
        for step in steps
        if step["queue_depth"] == depth and step["purpose"] == "confirm"
    ]
    return Found(depth, statistics.mean(confirming), len(steps), cost.wall_s)


def compare(folder: Path, title: str, target: dict[str, Any], rounds: int, every: int) -> None:
    given: dict[int, list[float]] = defaultdict(list)
    p95: dict[int, list[float]] = defaultdict(list)
    took: list[float] = []
    found: list[Found] = []
    for _ in range(rounds):
        steps, wall_s = sweep(folder, target, every)
        took.append(wall_s)
        for step in steps:
            given[step["queue_depth"]].append(step["iops"])
            p95[step["queue_depth"]].append(step["read"]["p95"])
        found.append(search(folder, target))
    inside = {
        depth: statistics.median(iops)
        for depth, iops in given.items()
        if statistics.median(p95[depth]) <= CEILING_MS
    }
    if not inside:
        print(f"  {title}: no depth keeps p95 below {CEILING_MS:g} ms", flush=True)
        return
    best = max(inside, key=lambda depth: inside[depth])
    iops = [search.iops for search in found]
    share = statistics.median(search.windows for search in found) / len(given)
    print(f"  {title}, p95 at most {CEILING_MS:g} ms")
    print(f"    sweep of {len(given)} depths: best {inside[best]:.0f} IOPS at {best}, "
          f"{statistics.median(took):.1f} s")  # fmt: skip
    for search_ in found:
        print(f"    search: {search_.iops:9.0f} IOPS at {search_.depth:3} "
              f"({search_.windows} windows, {search_.wall_s:.1f} s)")  # fmt: skip
    print(
        f"    of the sweep's best {min(iops) / inside[best]:.3f} at least, median "
        f"{statistics.median(iops) / inside[best]:.3f}, in {share:.2f} of its windows, "
        f"varying by {varying(iops):.1f} %"
    )
    print(f"    one depth, {best}, varied by {varying(given[best]):.1f} % from sweep to sweep")
    if rounds > 1:
        shares = choices(given, p95, [one.depth for one in found])
        print(
            f"    its choice against that of one sweep, by the other sweeps: {min(shares):.3f} at "
            f"least, median {statistics.median(shares):.3f}",
            flush=True,
        )


def choices(
    given: dict[int, list[float]], p95: dict[int, list[float]], chosen: list[int]
) -> list[float]:
    """What each search's depth gives against that of the sweep of its round."""
    depths = sorted(given)

    def judged(depth: int, without: int) -> float:
        at = depths.index(min(depths, key=lambda known: abs(known - depth)))
        beside = [given[known] for known in depths[max(at - 1, 0) : at + 2]]
        return statistics.mean(
            value for values in beside for turn, value in enumerate(values) if turn != without
        )

    shares: list[float] = []
    for turn, depth in enumerate(chosen):
        inside = [known for known in depths if p95[known][turn] <= CEILING_MS]
        swept = max(inside, key=lambda known: given[known][turn])
        shares.append(judged(depth, turn) / judged(swept, turn))
    return shares


def varying(values: list[float]) -> float:
    """Their standard deviation in percent of the mean."""
    if len(values) < 2:
        return 0.0
    return statistics.stdev(values) / statistics.mean(values) * 100


def main() -> None:
    given = sys.argv[1:]
    rounds, every = (int(word) for word in given + ["5", "2"][len(given) :])
    with scratch() as name:
        folder = Path(name)
        null = {
            "engine": "null", "targets": [{"directory": "/", "bytes": FILE}],
            "null": {"read_us": 200, "channels": 48},
        }  # fmt: skip
        compare(folder, "Null engine, 48 channels of 200 µs", null, rounds, every)
        path = prepared(folder / "bench.dat", FILE)
        disk = {"engine": "io_uring", "targets": [{"path": str(path)}]}
        compare(folder, "Random 8 KiB reads past the page cache", disk, rounds, every)


main()
