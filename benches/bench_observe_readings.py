"""Throughput that a server loses around each reading of the probes.

``bench_observe.py`` compares whole windows, whose speed drifts by more than the probes cost. Here
the driver records rows of 10 ms while the probes read as in a run. A regression of these rows on
the time since each reading finds what a reading costs within 100 ms: more precisely, but without
what lasts longer. Target: ≤ 1 % of throughput.
`python benches/bench_observe_readings.py [SECONDS [TARGET …]]`, two minutes a target by default
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench_observe import CONNECT_S, DRIVE, POINTS, USERS, point_selects
from common import scratch

from dyno import host, targets
from dyno.bundle.tables import read_lines
from dyno.bundle.writer import Recorder
from dyno.contracts.probe import Probed, Sample
from dyno.stages.observe.registry import open_probes
from dyno.stages.observe.sampler import Sampler

ROW_S, BEFORE, AFTER = 0.01, 2, 8
BLOCK_S = 5.0
"""Rows are compared with those of the same block: the machine's speed drifts."""
SHORTEST_NS = 200_000
"""A probe that leaves out a reading returns at once."""


class Noted:
    """A probe whose readings are noted: start and end on the monotonic clock, in ns."""

    def __init__(self, probe: Any, noted: list[tuple[int, int]]) -> None:
        self._probe, self._noted = probe, noted

    def read(self, now_ns: int) -> Sequence[Sample]:
        """The samples."""
        start_ns = time.monotonic_ns()
        found = self._probe.read(now_ns)
        self._noted.append((start_ns, time.monotonic_ns()))
        return found

    def __getattr__(self, name: str) -> Any:  # the rest of its protocol
        return getattr(self._probe, name)


def measure(name: str, seconds: float, out: Path) -> None:
    url = targets.parse(f"embedded:{name}")
    recorder = Recorder(out, "bench", {}, ())
    with targets.open_target(url, out, host.limits(host.collect(out))) as target:
        spool, plan = out / "rows.jsonl", out / "plan.json"
        plan.write_text(
            json.dumps({
                **point_selects(target), "seed": 1, "users": USERS, "loop": {"kind": "closed"},
                "warmup_s": 5, "duration_s": seconds + 60, "threads": 1, "interval_s": ROW_S,
                "clock": recorder.clock.model_dump(), "spool": str(spool),
            })
        )  # fmt: skip
        command = [sys.executable, "-c", DRIVE, str(plan)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as driver:
            time.sleep(10)
            assert isinstance(target, Probed)
            noted: list[tuple[int, int]] = []
            of_host: list[Any] = [Noted(probe, noted) for probe in open_probes()]
            inside: list[Any] = [Noted(probe, noted) for probe in target.probes()]
            with Sampler(recorder, of_host) as sampler, sampler.joined(inside):
                sampler.watch(target.process_ids())
                time.sleep(CONNECT_S)
                start_ns = time.monotonic_ns()
                time.sleep(seconds)
                end_ns = time.monotonic_ns()
            assert driver.poll() is None, "the driver ended early"
            driver.terminate()
        shift = recorder.clock.unix_ns - recorder.clock.monotonic_ns
        rows = [row for row in read_lines(spool) if start_ns <= row["t_ns"] - shift < end_ns]
        report(rows, [start + shift for start in merged(noted)], seconds)
    recorder.close()


def merged(noted: list[tuple[int, int]]) -> list[int]:
    """Starts of readings; those that follow each other within a row count as one."""
    starts: list[int] = []
    last_ns = 0
    for start_ns, end_ns in sorted(noted):
        if end_ns - start_ns < SHORTEST_NS and start_ns - last_ns > ROW_S * 1e9:
            continue
        if start_ns - last_ns > ROW_S * 1e9:
            starts.append(start_ns)
        last_ns = max(last_ns, end_ns)
    return starts


def report(rows: list[dict[str, Any]], starts: list[int], seconds: float) -> None:
    rows = sorted(rows, key=lambda row: row["t_ns"])
    t_ns = np.array([row["t_ns"] for row in rows])
    rate = np.array([row["done"] / row["seconds"] for row in rows])
    block = ((t_ns - t_ns[0]) / (BLOCK_S * 1e9)).astype(int)
    starts = [start for start in starts if t_ns[0] <= start < t_ns[-1]]
    at = np.searchsorted(t_ns, starts, side="right") - 1
    lagged = np.zeros((len(rate), BEFORE + AFTER))
    for column, lag in enumerate(range(-BEFORE, AFTER)):
        inside = at + lag
        np.add.at(lagged[:, column], inside[(inside >= 0) & (inside < len(rate))], 1)

    def within_block(values: Any) -> Any:
        means = np.array([values[block == one].mean(axis=0) for one in range(block.max() + 1)])
        return values - means[block]

    relative = within_block(rate) / rate.mean()
    design = within_block(lagged)
    effect, *_ = np.linalg.lstsq(design, relative, rcond=None)
    left = relative - design @ effect
    # Neighbouring rows are not independent: errors by block.
    bread = np.linalg.pinv(design.T @ design)
    scores = np.array([design[block == one].T @ left[block == one] for one in np.unique(block)])
    spread = bread @ (scores.T @ scores) @ bread
    each = len(starts) / seconds * ROW_S * 100
    lost, wide = each * effect.sum(), 1.96 * each * np.sqrt(spread.sum())
    readings = len(starts) / seconds
    print(f"  {rate.mean():,.0f} transactions/s, {readings:.1f} readings a second: within 100 ms "
          f"of them {lost:+.2f} [{lost - wide:+.2f}, {lost + wide:+.2f}] %")  # fmt: skip
    print("  by 10 ms from 20 ms before: " + " ".join(f"{100 * one:+.1f}" for one in effect) + " %")


def main() -> None:
    given = sys.argv[1:]
    seconds = float(given[0]) if given else 120.0
    print(f"{USERS} users, point selects: change of throughput around readings [95 % interval]\n")
    for name in given[1:] or POINTS:
        if not targets.lacks(name):
            print(f"{name}, private server", flush=True)
            with scratch() as folder:
                measure(name, seconds, Path(folder))


if __name__ == "__main__":
    main()
