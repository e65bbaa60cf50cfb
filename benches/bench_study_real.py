"""Studies on real engines: is a tenth less found, and is the same not called a difference?

Targets: with a tenth less of the server's processors' time (a quota of control groups), and with a
tenth fewer reads a second, the verdict is `worse` and the interval holds -10 %, give or take what
is not bound by it; of an A/A on PostgreSQL no headline metric is called better or worse. The quota
is one that is used up most of the time, which is reported too: a tenth of what is not used is no
loss. With `grids` the shipped studies of limits run, too.
`python benches/bench_study_real.py [PAIRS [grids]]`; needs the right to make control groups.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from common import dyno, scratch

from dyno.bundle.reader import Bundle

CPU = """
pairs = {pairs}
headline = ["tps"]
exploratory = ["p95_ms"]

[base]
workload = "tpcc"
target = "embedded:postgresql"
scale = 2

[base.run]
users = 8
duration = "10s"
warmup = "5s"

[base.limits]
cpu = 0.5

[[variants]]
name = "a tenth less"
"limits.cpu" = 0.45
"""

IO = """
pairs = {pairs}
headline = ["iops"]
reset = "nothing"

[base]
workload = "io"
target = "{folder}"

[base.run]
profile = "{profile}"
ceiling = 1000

[base.limits]
read_iops = 2000

[[variants]]
name = "a tenth less"
"limits.read_iops" = 1800
"""

PROFILE = """# Pages at random.
size = "64M"
step = "2s"

[[curves]]
name = "pages"
pattern = "random"
blocks = ["8K"]
reads = [100]
depths = [16]
"""


def report(title: str, started: float, made: dict[str, Any]) -> None:
    outcome = made["outcome"]
    minutes = (time.monotonic() - started) / 60
    print(f"{title}: {outcome['runs']} runs, {outcome['invalid']} invalid, {minutes:.1f} min")
    for one in outcome["comparisons"]:
        if one["percent"] is None or not (one["headline"] or one["verdict"] in ("better", "worse")):
            continue
        print(
            f"  {one['variant']:22} {one['metric']:18} {one['percent']:+7.2f} % "
            f"({one['low']:+.2f} to {one['high']:+.2f}), {one['verdict']}, p {one['p']:.2g}, "
            f"{one['pairs']} pairs; finds {one['smallest']:.2g} %"
        )
    for name, why in outcome["disqualified"].items():
        print(f"  {name}: cannot win: {why}")
    throttled(made)


def throttled(made: dict[str, Any]) -> None:
    """How often the quota of each variant was used up, in the middle of its runs."""
    shares: dict[str, list[float]] = {}
    for run in made["runs"]:
        if run["bundle"] is None:
            continue
        confined = Bundle.open(Path(made["folder"]) / run["bundle"]).run.confined
        share = None if confined is None else confined.throttled_share
        if share is not None:
            shares.setdefault(run["variant"], []).append(share)
    for name, found in shares.items():
        print(f"  {name:22} quota used up in {100 * median(found):.0f} % of the periods")


def study(folder: Path, name: str, text: str) -> None:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    started = time.monotonic()
    report(name, started, dyno("study", path, "--out", folder))


def main() -> None:
    pairs = int((sys.argv[1:] or ["5"])[0])
    with scratch() as name:
        folder = Path(name)
        profile = folder / "pages-profile.toml"
        profile.write_text(PROFILE, encoding="utf-8")
        study(folder, "reads", IO.format(pairs=pairs, folder=folder, profile=profile))
        study(folder, "processors", CPU.format(pairs=pairs))
        started = time.monotonic()
        words = ("study", "aa", "--workload", "tpcc", "--target", "embedded:postgresql")
        report("A/A", started, dyno(*words, "--pairs", "8", "--minutes", "6", "--out", folder))
        if "grids" in sys.argv:
            for shipped in ("cpu-memory-grid", "memory-cap"):
                started = time.monotonic()
                report(shipped, started, dyno("study", shipped, "--out", folder))


main()
