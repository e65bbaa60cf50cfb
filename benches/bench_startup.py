"""`dyno --help`: target ≤ 0.4 s."""

import statistics

from common import BIN, process

runs = [process(BIN / "dyno", "--help") for _ in range(11)]
print(f"dyno --help: median {statistics.median(run.wall_s for run in runs):.3f} s wall,")
print(f"  {statistics.median(run.cpu_s for run in runs):.3f} s CPU (target: 0.4 s)")
