"""Stalls of 100 ms each second under a fixed rate: does the response time show them?

Target: mean and p99 of the response time within 5 % of what the schedule and the stalls imply. What
they imply is computed here: each I/O waits from when it is due until the stall is over and those
before it are served. With few slots most of that wait lies before the submission, so that service
times alone, and those of a tool that measures from the submission, do not show it.

First on the null engine, whose stalls are exact, then on a real file system in a file, on a loop
device: `FIFREEZE` stops its writes and `FITHAW` lets them go on. When each stall really began and
ended is what plain writes beside it saw, one each half millisecond. That needs root. fio has the
same rate and depth there, and the same kind of stalls.
`python benches/bench_io_stalls.py [SECONDS]`
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from common import process, scratch
from storage import WARMUP, Case, curve, engine, mounted

RATE = 1000
STALL_S = 0.1
EVERY_S = 1.0
FREEZE, THAW = 0xC0045877, 0xC0045878
"""`FIFREEZE` and `FITHAW` of linux/fs.h."""

Stalls = Sequence[tuple[float, float]]
"""Begins and ends, seconds of one clock."""


@dataclass(frozen=True)
class Latencies:
    """Milliseconds."""

    mean: float
    p99: float

    def beside(self, implied: Latencies) -> str:
        return (
            f"mean {self.mean:6.2f} ms ({self.mean / implied.mean:.3f} of what is implied), "
            f"p99 {self.p99:6.2f} ms ({self.p99 / implied.p99:.3f})"
        )


def implied(window: tuple[float, float], stalls: Stalls, service: float, apart: float) -> Latencies:
    """Response times of a device that serves no I/O in a stall, and after it one each ``apart``."""
    first, end = window[0] - WARMUP, window[1]
    free, waits = 0.0, []
    starts = iter([*stalls, (float("inf"), float("inf"))])
    stall = next(starts)
    for number in range(round((end - first) * RATE)):
        due = first + number / RATE
        begin = max(due, free)
        while begin >= stall[1]:
            stall = next(starts)
        if begin >= stall[0]:
            begin = stall[1]
        free = begin + apart
        if window[0] < begin + service <= end:
            waits.append(begin + service - due)
    return Latencies(float(np.mean(waits)) * 1e3, float(np.quantile(waits, 0.99)) * 1e3)


def simulated(folder: Path, depth: int, seconds: float) -> None:
    us, channels = 100, 8
    case = Case("", "random", 8192, 100, depth)
    rate = {"per_second": [RATE], "arrivals": "fixed"}
    outcome, _ = engine(folder, {
        "engine": "null", "targets": [{"directory": "/", "bytes": 1 << 30}],
        "null": {"read_us": us, "channels": channels, "stall_ms": STALL_S * 1e3,
                 "stall_every_ms": EVERY_S * 1e3},
        "steps": [curve(case, seconds, rate=rate)],
    })  # fmt: skip
    step = outcome["steps"][0]
    # The model counts its milliseconds from the start of the warm-up.
    stalls = [(n * EVERY_S - STALL_S, n * EVERY_S) for n in range(1, round(seconds) + 3)]
    served = min(depth, channels)
    should = implied((WARMUP, WARMUP + seconds), stalls, us / 1e6, us / 1e6 / served)
    report(f"null engine, at most {depth} in flight", step["read_response"], step["read"], should)


def report(
    title: str, response: dict[str, float], service: dict[str, float], should: Latencies
) -> None:
    print(f"  {title}: implied mean {should.mean:.2f} ms, p99 {should.p99:.2f} ms")
    print(f"    response  {Latencies(response['mean'], response['p99']).beside(should)}")
    print(f"    service   {Latencies(service['mean'], service['p99']).beside(should)}", flush=True)


@contextlib.contextmanager
def frozen_each_second(volume: Path) -> Iterator[list[tuple[float, float]]]:
    """Stops a file system's writes for 100 ms each second; yields when, on the monotonic clock."""
    stalls: list[tuple[float, float]] = []
    over = threading.Event()

    def freeze() -> None:
        handle = os.open(volume, os.O_RDONLY | os.O_DIRECTORY)
        while not over.wait(EVERY_S - STALL_S):
            fcntl.ioctl(handle, FREEZE, 0)
            try:
                time.sleep(STALL_S)
            finally:
                fcntl.ioctl(handle, THAW, 0)
        os.close(handle)

    def watch() -> None:
        handle = os.open(volume / "probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
        page = mmap.mmap(-1, 4096)
        while not over.wait(0.0005):
            begin = time.monotonic()
            os.pwrite(handle, page, 0)
            end = time.monotonic()
            if end - begin > STALL_S / 2:
                stalls.append((begin, end))
        os.close(handle)

    threads = [threading.Thread(target=work) for work in (freeze, watch)]
    for thread in threads:
        thread.start()
    try:
        yield stalls
    finally:
        over.set()
        for thread in threads:
            thread.join()


def real(folder: Path, volume: Path, depth: int, seconds: float) -> None:
    case = Case("", "random", 8192, 0, depth)
    targets = [{"directory": str(volume), "bytes": 128 << 20}]
    usual, _ = engine(folder, {"targets": targets, "steps": [curve(replace(case, depth=4), 1)]})
    service = usual["steps"][0]["write"]["p50"] / 1e3
    rate = {"per_second": [RATE], "arrivals": "fixed"}
    clock = {"unix_ns": 0, "monotonic_ns": 0}
    with frozen_each_second(volume) as stalls:
        plan = {"targets": targets, "steps": [curve(case, seconds, rate=rate)], "clock": clock}
        outcome, _ = engine(folder, plan)
        theirs = fio(folder, volume, depth, seconds)
    step = outcome["steps"][0]
    start = step["t_ns"] / 1e9
    should = implied((start, start + seconds), stalls, service, service / min(depth, 4))
    report(f"ext4, at most {depth} in flight", step["write_response"], step["write"], should)
    print(f"    fio's lat {theirs.beside(should)}", flush=True)


def fio(folder: Path, volume: Path, depth: int, seconds: float) -> Latencies:
    answer = folder / "fio.json"
    process(
        "fio", "--name=bench", f"--filename={volume / 'fio.dat'}", "--rw=randwrite", "--bs=8192",
        "--size=128m", f"--iodepth={depth}", "--direct=1", "--ioengine=io_uring", "--fallocate=1",
        f"--rate_iops={RATE}", "--time_based=1", f"--ramp_time={round(WARMUP * 1000)}ms",
        f"--runtime={seconds}s", "--lat_percentiles=1", "--clat_percentiles=0", "--thread=1",
        "--percentile_list=99", "--output-format=json", f"--output={answer}",
    )  # fmt: skip
    lat = json.loads(answer.read_text())["jobs"][0]["write"]["lat_ns"]
    (volume / "fio.dat").unlink()
    return Latencies(lat["mean"] / 1e6, lat["percentile"]["99.000000"] / 1e6)


def main() -> None:
    seconds = int((sys.argv[1:] or ["15"])[0])
    print(f"{RATE} I/Os a second, no service for {STALL_S * 1e3:.0f} ms of each second")
    with scratch() as name:
        folder = Path(name)
        for depth in (4, 256):
            simulated(folder, depth, 60)
        if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None or shutil.which("fio") is None:
            print("  ext4: not measured: that needs root, mkfs.ext4 and fio")
            return
        with mounted(folder) as volume:
            for depth in (4, 256):
                real(folder, volume, depth, seconds)


main()
