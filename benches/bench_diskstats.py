"""The probe of block devices against iostat over the same seconds, and the profiler's own count.

Targets: every metric within 2 % of `iostat -x`, bytes within 3 % of those that the profiler counted
(bytes, because the kernel merges sequential requests). The profiler loads a file system on a loop
device, whose I/O no other process adds to. The probe is read just before iostat starts and after it
ends, in the middle of the load; for the profiler's count, before and after the whole load. iostat
prints two decimals: half of the last one is its rounding, which says nothing about the probe. What
differs by more than the target beyond that is marked.
`python benches/bench_diskstats.py [SECONDS]`, a minute by default
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from common import scratch
from storage import WARMUP, Case, curve, engine, mounted, prepared

from dyno.host.storage import storage_facts
from dyno.stages.observe.disk import DiskProbe

KIB = 1024.0
PRINTED = {
    "read_iops": ("r/s", 1.0), "write_iops": ("w/s", 1.0),
    "read_mbps": ("rkB/s", KIB / 1e6), "write_mbps": ("wkB/s", KIB / 1e6),
    "read_await": ("r_await", 1.0), "write_await": ("w_await", 1.0),
    "queue_length": ("aqu-sz", 1.0), "utilisation": ("util", 1.0),
}  # fmt: skip
CASES = (
    Case("random, 70 % reads", "random", 8192, 70, 16),
    Case("sequential writes", "sequential", 65536, 0, 256),  # waits of milliseconds
)
BEFORE_S = 3.0
ROUNDING = 0.00501
MOST, MOST_BYTES = 0.02, 0.03


def beside(device: str, seconds: int) -> tuple[dict[str, float], dict[str, float]]:
    """The metrics of a device from the probe and from iostat, over the same seconds."""
    probe = DiskProbe()
    probe.read(time.monotonic_ns())
    done = subprocess.run(
        ["iostat", "-x", "-d", "-y", "-o", "JSON", device, str(seconds), "1"],
        capture_output=True, check=True, text=True, env={**os.environ, "LC_ALL": "C"},
    )  # fmt: skip
    ours = {one.metric: one.value for one in probe.read(time.monotonic_ns())
            if one.subject == device}  # fmt: skip
    (printed,) = json.loads(done.stdout)["sysstat"]["hosts"][0]["statistics"][0]["disk"]
    return ours, {metric: printed[name] * by for metric, (name, by) in PRINTED.items()}


def compare(folder: Path, path: Path, device: str, case: Case, seconds: int) -> None:
    """Prints a table of one load."""
    plan = {
        "engine": "io_uring", "targets": [{"path": str(path), "destroy": True}],
        "steps": [curve(case, seconds + 2 * BEFORE_S)], "pages": case.pages,
    }  # fmt: skip
    outcome: dict[str, Any] = {}
    whole, began_ns = DiskProbe(), time.monotonic_ns()
    whole.read(began_ns)
    load = threading.Thread(target=lambda: outcome.update(engine(folder, plan)[0]))
    load.start()
    time.sleep(BEFORE_S)
    ours, theirs = beside(device, seconds)
    load.join()
    ended_ns = time.monotonic_ns()
    rates = {one.metric: one.value for one in whole.read(ended_ns) if one.subject == device}
    print(case.title)
    print(f"  {'metric':<14}{'probe':>12}{'iostat':>12}{'ratio':>8}")
    for metric, other in theirs.items():
        if other > 0:
            mine, slack = ours[metric], ROUNDING * PRINTED[metric][1]
            mark = missed(mine, other, MOST, slack)
            print(f"  {metric:<14}{mine:>12.3f}{other:>12.3f}{mine / other:>8.3f}{mark}")
    moved = (rates["read_mbps"] + rates["write_mbps"]) * (ended_ns - began_ns) / 1e9
    loaded_s = seconds + 2 * BEFORE_S + WARMUP
    counted = outcome["steps"][0]["iops"] * case.block / 1e6 * loaded_s
    mark = missed(moved, counted, MOST_BYTES)
    print(f"  {'MB/profiler':<14}{moved:>12.1f}{counted:>12.1f}{moved / counted:>8.3f}{mark}",
          flush=True)  # fmt: skip


def missed(mine: float, other: float, most: float, slack: float = 0.0) -> str:
    """A mark if the target is missed."""
    return "  MISSED" if abs(mine - other) > most * other + slack else ""


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with scratch() as name, mounted(Path(name)) as volume:
        path = prepared(volume / "bench.dat", 256 << 20)
        device = storage_facts(volume)["subject"]
        for case in CASES:
            compare(Path(name), path, str(device), case, seconds)


main()
