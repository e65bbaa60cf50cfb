"""Hit ratios of the simulator beside libCacheSim's, and the error of sampled curves.

Targets: within 0.1 points of libCacheSim on the same trace; S3-FIFO at least 0.85 of the optimum
where the cache has at least 10 % of the blocks, and within a point of the best policy; curves
within 0.01 in at most 1 MiB. Traces are made here: skewed accesses, the same with scans in between,
a loop with skewed accesses beside it. Others are given as files in libCacheSim's format.
`DYNO_CACHESIM=PROGRAM python benches/bench_policies.py [TRACE …]`; the program is libCacheSim's
`cachesim`, built by hand
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import scratch
from numpy.typing import NDArray

from dyno.accelerate import formats
from dyno.accelerate.simulate import OPTIMUM, POLICIES, curve, footprint, simulate
from dyno.accelerate.trace import Trace
from dyno.runtime.progress import Silent

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
THEIRS = {
    "lru": "lru", "arc": "arc", "2q": "twoq", "lirs": "lirs", "s3-fifo": "s3fifo",
    "w-tiny-lfu": "wtinylfu", OPTIMUM: "belady",
}  # fmt: skip
ROW = np.dtype([("seconds", "<u4"), ("object", "<u8"), ("bytes", "<u4"), ("next", "<i8")])
NEVER = np.iinfo(np.int64).max


def made(folder: Path) -> Iterator[Path]:
    """Traces of some hundred thousand blocks, in libCacheSim's format."""
    chance = np.random.default_rng(1)
    skewed = (200_000 ** chance.random(2_000_000)).astype(np.uint64)
    scans = np.split(skewed, 20)
    for number in range(0, 20, 2):
        first = 1_000_000 + 20_000 * number
        scans[number] = np.concatenate([scans[number], np.arange(first, first + 30_000)])
    loop = np.resize(np.arange(2_000_000, 2_100_000), 1_000_000)
    beside = np.stack([skewed[: loop.size], loop.astype(np.uint64)]).T.ravel()
    traces = {"skewed": skewed, "scans": np.concatenate(scans), "loop": beside}
    for name, blocks in traces.items():
        yield written(folder / f"{name}.oracleGeneral", blocks.astype(np.uint64))


def written(path: Path, blocks: NDArray[np.uint64]) -> Path:
    rows = np.zeros(blocks.size, ROW)
    rows["object"], rows["bytes"] = blocks, 1
    rows["seconds"] = np.arange(blocks.size) // 1000
    order = np.argsort(blocks, kind="stable")
    following = np.full(blocks.size, NEVER, np.int64)
    same = blocks[order[1:]] == blocks[order[:-1]]
    following[order[:-1][same]] = order[1:][same] + 1  # theirs count from 1
    rows["next"] = following
    rows.tofile(path)
    return path


def theirs(program: str, path: Path, size: int) -> dict[str, float]:
    """Hit ratios that libCacheSim finds."""
    command = [
        *(program, str(path), "oracleGeneral", ",".join(THEIRS.values()), str(size)),
        *("--ignore-obj-size", "1"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=path.parent)
    ratios = [float(found) for found in re.findall(r"req, miss ratio ([\d.]+)", done.stdout)]
    return dict(zip(THEIRS, (1 - ratio for ratio in ratios), strict=True))


def compare(path: Path, program: str | None) -> None:
    trace: Trace = formats.read(path, 8192, "oracle-general")
    blocks = footprint(trace)
    sizes = [max(10, round(share * blocks)) for share in SHARES]
    print(f"\n{path.name}: {trace.blocks.size:,} accesses to {blocks:,} objects, hit ratio in %")
    print(f"{'cache':>18}" + "".join(f"{name:>16}" for name in POLICIES))
    caches = [(name, size) for size in sizes for name in POLICIES]
    start = time.perf_counter()
    found = simulate(trace, caches, "allocate", 1.0, Silent())
    seconds = time.perf_counter() - start
    ratios = {(one.policy, one.blocks): one.hit_ratio for one in found}
    worst = dict.fromkeys(THEIRS, 0.0)
    for share, size in zip(SHARES, sizes, strict=True):
        other = theirs(program, path, size) if program else {}
        cells = ""
        for name in POLICIES:
            cell = f"{100 * ratios[name, size]:.2f}"
            if name in other:
                apart = 100 * (ratios[name, size] - other[name])
                worst[name] = max(worst[name], abs(apart))
                cell += f" ({apart:+.2f})"
            cells += f"{cell:>16}"
        print(f"{size:>12,}{share:>5.0%} {cells}")
    if program:
        words = ", ".join(f"{name} {points:.2f}" for name, points in worst.items())
        print(f"    at most apart from libCacheSim, in points: {words} (target 0.1)")
    large = [size for share, size in zip(SHARES, sizes, strict=True) if share >= 0.1]
    of_best = min(ratios["s3-fifo", size] / ratios[OPTIMUM, size] for size in large)
    others = [name for name in POLICIES if name != OPTIMUM]
    behind = max(
        max(ratios[name, size] for name in others) - ratios["s3-fifo", size] for size in sizes
    )
    print(f"    S3-FIFO from 10 % on: at least {of_best:.2f} of the optimum (target 0.85); at most "
          f"{100 * behind:.1f} points behind the best policy (target 1)")  # fmt: skip
    rate = trace.blocks.size * len(caches) / seconds / 1e6
    print(f"    {rate:.1f} million accesses a second, two caches at once")
    even = [blocks * part // 20 for part in range(1, 21)]
    exact = simulate(trace, [("lru", size) for size in even], "allocate", 1.0, Silent())
    sampled = curve(trace, even).hit_ratios
    errors = [abs(one.hit_ratio - ratio) for one, ratio in zip(exact, sampled, strict=True)]
    print(f"    sampled curve: mean error {np.mean(errors):.4f}, largest {max(errors):.4f} "
          "(target 0.01)")  # fmt: skip


def main() -> None:
    program = os.environ.get("DYNO_CACHESIM")
    with scratch() as folder:
        for path in [*made(Path(folder)), *(Path(file).absolute() for file in sys.argv[1:])]:
            compare(path, program)


if __name__ == "__main__":
    main()
