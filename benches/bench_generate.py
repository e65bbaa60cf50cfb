"""The generator against `tpchgen-cli`, and its memory at scale 100.

Targets: MB of raw data a second and core within 5 % of the peer's or better; ≤ 300 MB resident.
CPU seconds are the kernel's, of the whole process, its start included. Both write all tables at
scale 1 to the same volume, Parquet with the same compression (zstd, level 1). Memory is watched
while scale 100 goes to /dev/null, for 30 s: it does not end, but what it holds does not grow.
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
RAW_MB = 1045 * float(SCALE)
"""Size of all tables as `tbl` text at scale 1: the usual measure of raw data."""
WATCH_S = 30
PEER = {"tbl": [], "csv": [], "parquet": ["-c", "ZSTD(1)"]}


def ours(file_format: str, folder: Path) -> Cost:
    return process(
        BIN / "dyno", "generate", "tpch", "--scale", SCALE, "--format", file_format, "--to", folder,
        "--replace", "--quiet",
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


def memory(file_format: str) -> None:
    command = [
        BIN / "dyno", "generate", "tpch", "--scale", "100", "--format", file_format,
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
    with scratch() as folder:
        for file_format in PEER:
            compare(file_format, Path(folder))
    print()
    for file_format in ("tbl", "csv", "parquet", "arrow"):
        memory(file_format)


main()
