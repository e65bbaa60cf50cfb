"""The generator against `tpchgen-cli`, the brokerage's rows, and the memory of both at scale 100.

Targets: MB of raw data a second and core within 5 % of the peer's or better, and ≥ 150 for the
brokerage, which has no peer; ≤ 300 MB resident. CPU seconds are the kernel's, of the whole process,
its start included. Both write all tables at scale 1 to the same volume, Parquet with the same
compression (zstd, level 1); the brokerage at scale 4 and 10 days, about as much. Memory is watched
while scale 100 goes to /dev/null, for 30 s: it does not end, but what it holds does not grow.
`python benches/bench_generate.py [SCALE [WORKLOAD]]`, both workloads by default
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import psutil
from common import BIN, Cost, process, scratch

ROUNDS = 3
SCALE = sys.argv[1] if len(sys.argv) > 1 else "1"
WORKLOADS = sys.argv[2:] or ["tpch", "brokerage"]
RAW_MB = 1045 * float(SCALE)
"""Size of all tables as `tbl` text at scale 1: the usual measure of raw data."""
WATCH_S = 30
BROKERAGE = str(4 * float(SCALE))
"""Scale of the brokerage whose rows are about as much as those of TPC-H."""
BROKERAGE_MB = 150
PEER = {"tbl": [], "csv": [], "parquet": ["-c", "ZSTD(1)"]}


def ours(file_format: str, folder: Path, workload: str = "tpch", scale: str = SCALE) -> Cost:
    return process(
        BIN / "dyno", "generate", workload, "--scale", scale, "--format", file_format,
        "--to", folder, "--replace", "--quiet",
    )  # fmt: skip


def peers(file_format: str, folder: Path) -> Cost:
    return process(
        BIN / "tpchgen-cli", file_format, "-s", SCALE, "-o", folder, "-q", "--overwrite",
        *PEER[file_format],
    )  # fmt: skip


def compare(file_format: str, folder: Path) -> None:
    runs: list[tuple[Cost, Cost]] = []
    for _ in range(ROUNDS):
        runs.append((ours(file_format, folder / "a"), peers(file_format, folder / "b")))
    mine = statistics.median(a.cpu_s for a, _ in runs)
    other = statistics.median(b.cpu_s for _, b in runs)
    ratio = statistics.median(b.cpu_s / a.cpu_s for a, b in runs)
    wall = statistics.median(b.wall_s / a.wall_s for a, b in runs)
    size = {name: sum(f.stat().st_size for f in (folder / name).rglob("*.*")) for name in "ab"}
    print(
        f"{file_format:8}{RAW_MB / mine:7.0f} MB/s a core   peer {RAW_MB / other:5.0f}   "
        f"{ratio:.2f} x per core, {wall:.2f} x wall   "
        f"files {size['a'] / 1e6:.0f} MB, peer {size['b'] / 1e6:.0f} MB   "
        f"resident {runs[0][0].peak_bytes / 1e6:.0f} MB, peer {runs[0][1].peak_bytes / 1e6:.0f} MB",
        flush=True,
    )
    subprocess.run(["rm", "-rf", folder / "a", folder / "b"], check=True)


def brokerage(file_format: str, folder: Path) -> None:
    """Its rows; the size of a text format is that of the raw data."""
    runs = [ours(file_format, folder / "a", "brokerage", BROKERAGE) for _ in range(ROUNDS)]
    size_mb = sum(file.stat().st_size for file in (folder / "a").rglob("*.*")) / 1e6
    rate = size_mb / statistics.median(run.cpu_s for run in runs)
    print(
        f"{file_format:8}{rate:7.0f} MB/s a core (target {BROKERAGE_MB})   files {size_mb:.0f} MB"
        f"   resident {max(run.peak_bytes for run in runs) / 1e6:.0f} MB (target 300)",
        flush=True,
    )
    subprocess.run(["rm", "-rf", folder / "a"], check=True)


def memory(file_format: str, workload: str = "tpch") -> None:
    command = [
        BIN / "dyno", "generate", workload, "--scale", "100", "--format", file_format,
        "--to", "/dev/null", "--quiet",
    ]  # fmt: skip
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen: list[float] = []
    end = time.monotonic() + WATCH_S
    while time.monotonic() < end and child.poll() is None:
        time.sleep(0.5)
        seen.append(psutil.Process(child.pid).memory_info().rss / 1e6)
    child.terminate()
    child.wait()
    middle = max(seen[len(seen) // 3 : 2 * len(seen) // 3])
    print(
        f"{file_format:8}scale 100 to /dev/null for {WATCH_S} s: {max(seen):.0f} MB resident at "
        f"most (target 300), {middle:.0f} in the middle third, {max(seen[-5:]):.0f} at the end"
    )


def main() -> None:
    print(f"scale {SCALE}, median of {ROUNDS}; ratio = peer / Dyno, pair by pair; above 1: less\n")
    if "tpch" in WORKLOADS:
        with scratch() as folder:
            for file_format in PEER:
                compare(file_format, Path(folder))
        print()
        for file_format in ("tbl", "csv", "parquet", "arrow"):
            memory(file_format)
    if "brokerage" in WORKLOADS:
        print(f"\nbrokerage, scale {BROKERAGE}")
        with scratch() as folder:
            for file_format in ("tbl", "csv"):
                brokerage(file_format, Path(folder))
        for file_format in ("tbl", "csv", "parquet", "arrow"):
            memory(file_format, "brokerage")


main()
