"""The storage engine beside tuned fio: I/Os a second, latencies, and I/Os a second of CPU.

Targets: past the page cache 8 KiB random reads at depth 1, 8, 32, 128 with at least 0.98 of fio's
IOPS, and p50, p99, p99.9 within 2 %; 256 KiB sequential at least 1.0 of fio's MB/s. In the page
cache (the processor is the limit) at least 1.15 of fio's I/Os a second of CPU.
Both take turns (ABBA); medians, and medians of paired ratios with their quartiles. How far apart
two runs of fio in a row are is what the disk's own noise allows to see. CPU is that of the whole
process; for Dyno what a process that only starts Python takes is left out. Buffers of both are in
huge pages where enough are set aside for fio (sysctl vm.nr_hugepages=64); from ordinary ones, of
which it is luck how many lie side by side, the sequential ones are measured as well. fio cannot
refuse transparent huge pages, so the system must give them to those only who ask (madvise).
`python benches/bench_io.py [SECONDS [ROUNDS]]`
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from common import scratch
from storage import (
    HUGE_PAGES,
    Case,
    abba,
    again,
    fio,
    huge_pages,
    middle,
    ours,
    page_cache,
    prepared,
    ratios,
    transparent,
)

FILE = 2 << 30
MEMORY = 16 << 20

RANDOM = [
    Case(f"random read 8 KiB, depth {depth}", "random", 8192, 100, depth)
    for depth in (1, 8, 32, 128)
]
SEQUENTIAL = [
    Case("sequential read 256 KiB, depth 16", "sequential", 262_144, 100, 16),
    Case("sequential write 256 KiB, depth 16", "sequential", 262_144, 0, 16),
]
CPU_BOUND = [
    *(
        Case(f"random read 4 KiB, depth {depth}", "random", 4096, 100, depth)
        for depth in (1, 8, 32)
    ),
    Case("random write 8 KiB, depth 8", "random", 8192, 0, 8),
]


COLUMNS = {"iops": ("IOPS", 9, 0), "p50": ("p50", 9, 1), "p99": ("p99", 9, 1),
           "p999": ("p99.9", 9, 1), "cpu": ("CPU", 8, 2)}  # fmt: skip
"""Metrics: heading, width, digits; latencies in µs, CPU in µs for each I/O."""


def compare(folder: Path, path: Path, case: Case, seconds: float, rounds: int) -> None:
    pairs = abba(
        rounds,
        lambda: ours(folder, [path], case, seconds),
        lambda: fio(folder, [path], case, seconds),
    )
    print(f"  {case.title}")
    print("         ", *(f"{heading:>{width}}" for heading, width, _ in COLUMNS.values()))
    for side, name in enumerate(("Dyno", "fio")):
        cells = (
            f"{middle(pairs, side, attrgetter(metric)):{width}.{digits}f}"
            for metric, (_, width, digits) in COLUMNS.items()
        )
        print(f"    {name:5}", *cells)
    said = (f"{heading} {ratios(pairs, attrgetter(metric))}"
            for metric, (heading, _, _) in COLUMNS.items() if metric != "cpu")  # fmt: skip
    print(f"    ratios: {', '.join(said)}")
    noise = (f"{heading} {again(pairs, attrgetter(metric))}"
             for metric, (heading, _, _) in COLUMNS.items() if metric != "cpu")  # fmt: skip
    print(f"    fio to fio: {', '.join(noise)}")
    print(f"    I/Os a second of CPU {ratios(pairs, lambda seen: 1 / seen.cpu)}", flush=True)


def main() -> None:
    seconds, rounds = (int(word) for word in (sys.argv[1:] + ["2", "6"][len(sys.argv) - 1 :]))
    if shutil.which("fio") is None:
        print("not measured: fio is not installed")
        return
    print("latencies in µs, CPU in µs for each I/O; ratios: median (quartiles) of pairs in turn")
    print(f"transparent huge pages: {transparent()}")
    with scratch() as name:
        folder = Path(name)
        print(f"Past the page cache, a file of {FILE >> 30} GiB")
        path = prepared(folder / "bench.dat", FILE)
        if huge_pages() >= HUGE_PAGES:
            print("buffers in huge pages")
            for case in RANDOM + SEQUENTIAL:
                compare(folder, path, replace(case, pages="huge"), seconds, rounds)
        else:
            print("huge pages: not measured, fewer than 32 are set aside")
        print("buffers in ordinary pages")
        for case in SEQUENTIAL if huge_pages() >= HUGE_PAGES else RANDOM + SEQUENTIAL:
            compare(folder, path, case, seconds, rounds)
    with scratch() as name, page_cache(Path(name)) as memory:
        if memory is None:
            print("In the page cache: not measured, that needs root and mkfs.ext4")
            return
        print(f"In the page cache, a file of {MEMORY >> 20} MiB")
        path = prepared(memory / "bench.dat", MEMORY)
        for case in CPU_BOUND:
            compare(Path(name), path, case, seconds, rounds)


main()
