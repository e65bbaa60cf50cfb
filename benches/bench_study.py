"""What a study takes between the runs that it measures: target ≤ 2 s from one run to the next.

A study of the null target: from the end of one run's process to the start of the next one's the
study works alone. The overhead of a run beside its windows is reported for comparison.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
from pathlib import Path

from common import scratch

from dyno.studies.store import StudyStore

PAIRS = 8
WINDOW_S = 1.5
STUDY = f"""
pairs = {PAIRS}
headline = ["tps"]
exploratory = ["p95_ms"]
criteria = ["tps > 1"]
margin = 0.001

[base]
workload = "tpcc"
target = "null:?mean_us=500"

[base.run]
users = 2
warmup = "{WINDOW_S / 3}s"
duration = "{WINDOW_S * 2 / 3}s"

[[variants]]
name = "slower"
target = "null:?mean_us=1000"
"""


def main() -> None:
    with scratch() as folder:
        path = Path(folder) / "bench.toml"
        path.write_text(STUDY, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "dyno", "study", path, "--json", "--quiet", "--out", folder],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode > 1:
            raise SystemExit(done.stderr)
        runs = json.loads(done.stdout)["runs"]
        slots = len(StudyStore.open(Path(folder) / "studies" / "bench").slots)
    between = [after["started"] - before["ended"] for before, after in itertools.pairwise(runs)]
    beside = [run["ended"] - run["started"] - WINDOW_S for run in runs]
    print(f"{len(runs)} runs of {slots} planned, null target, windows of {WINDOW_S:g} s")
    print(
        f"  between two runs: median {statistics.median(between):.3f} s, "
        f"longest {max(between):.3f} s (target: 2 s)"
    )
    print(
        f"  of a run beside its window: median {statistics.median(beside):.2f} s, "
        f"longest {max(beside):.2f} s"
    )


main()
